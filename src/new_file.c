#define _GNU_SOURCE
#include "large_files.h"

#include "new_file.h"

#include "jitdump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int jd_new_file_error(int error_number)
{
    switch (error_number) {
    case ENOENT:
    case ENOTDIR:
        return JITDUMP_ERROR_DIRECTORY_MISSING;
    case EACCES:
    case EPERM:
    case EROFS:
        return JITDUMP_ERROR_DIRECTORY_NOT_WRITABLE;
    case EMFILE:
    case ENFILE:
        return JITDUMP_ERROR_TOO_MANY_FILES;
    case ENOMEM:
        return JITDUMP_ERROR_NO_MEMORY;
    case ENOSPC:
    case EDQUOT:
        return JITDUMP_ERROR_DISK_FULL;
    case EFBIG:
        return JITDUMP_ERROR_FILE_TOO_LARGE;
    default:
        return JITDUMP_ERROR_IO;
    }
}

/* Whether the path leads to the open file. */
static bool leads_to(const char *path, int fd)
{
    struct stat opened, there;
    return fstat(fd, &opened) == 0 && lstat(path, &there) == 0 &&
           opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

/* False if another one holds the lock. A file system without locks is no reason to fail: it only
 * loses the protection against two files of one name. */
static bool lock(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/* Removes what has the name, if it is a stale file. A living one is known by its lock, which also
 * tells apart equal pids of different pid namespaces. */
static int remove_stale(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT ? 0 : jd_new_file_error(errno);
    if (!S_ISREG(status.st_mode) || status.st_uid != geteuid())
        return JITDUMP_ERROR_FILE_FOREIGN;
    /* O_NONBLOCK, should a FIFO have come in its place meanwhile. */
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT                      ? 0
               : errno == EMFILE || errno == ENFILE ? JITDUMP_ERROR_TOO_MANY_FILES
                                                    : JITDUMP_ERROR_FILE_FOREIGN;
    int error = 0;
    if (!lock(fd))
        error = JITDUMP_ERROR_FILE_IN_USE;
    /* With the lock held: who has made a file since locks it, and finds it gone. */
    else if (leads_to(path, fd) && unlink(path) != 0 && errno != ENOENT)
        error = jd_new_file_error(errno);
    close(fd);
    return error;
}

void jd_new_file_unlink(const char *path, int fd)
{
    if (leads_to(path, fd))
        unlink(path);
}

/* Where standard input, output or error is closed, its number would be the file's, and what the
 * program prints be written into it. */
static bool keep_off_standard_streams(const char *path, int *fd)
{
    if (*fd > STDERR_FILENO)
        return true;
    const int other = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (other < 0)
        jd_new_file_unlink(path, *fd);
    close(*fd);
    *fd = other;
    return other >= 0;
}

/* O_EXCL decides: whatever is planted at the path between the steps, nothing but a file made
 * here is written to. */
int jd_new_file_open(const char *path, int *fd)
{
    for (int attempt = 0; attempt < 3; attempt++) {
        *fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (*fd >= 0) {
            if (!keep_off_standard_streams(path, fd)) {
                errno = EMFILE;
                return JITDUMP_ERROR_TOO_MANY_FILES;
            }
            fchmod(*fd, 0600); /* the umask may have taken bits away */
            if (lock(*fd) && leads_to(path, *fd))
                return 0;
            /* A process of the same pid in another namespace has come before the lock, and taken
             * the file for stale. */
            close(*fd);
            *fd = -1;
            continue;
        }
        if (errno != EEXIST)
            return jd_new_file_error(errno);
        const int error = remove_stale(path);
        if (error != 0)
            return error;
    }
    return JITDUMP_ERROR_FILE_FOREIGN; /* someone keeps putting it back */
}

void jd_new_file_close(int fd)
{
    flock(fd, LOCK_UN);
    close(fd);
}
