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

/* 0 if what has the name is a stale file, which may be removed. A living one is known by its
 * lock, which also tells apart equal pids of different pid namespaces. */
static int check_stale(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT ? 0 : jd_new_file_error(errno);
    if (!S_ISREG(status.st_mode) || status.st_uid != geteuid())
        return JITDUMP_ERROR_FILE_FOREIGN;
    /* O_NONBLOCK, should a FIFO have come in its place meanwhile. */
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == EMFILE || errno == ENFILE ? JITDUMP_ERROR_TOO_MANY_FILES
                                                  : JITDUMP_ERROR_FILE_FOREIGN;
    const bool in_use = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return in_use ? JITDUMP_ERROR_FILE_IN_USE : 0;
}

/* O_EXCL decides: whatever is planted at the path between the steps, nothing but a file made
 * here is written to. */
int jd_new_file_open(const char *path, int *fd)
{
    for (int attempt = 0;; attempt++) {
        *fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (*fd >= 0)
            break;
        if (errno != EEXIST)
            return jd_new_file_error(errno);
        if (attempt == 2)
            return JITDUMP_ERROR_FILE_FOREIGN; /* someone keeps putting it back */
        const int error = check_stale(path);
        if (error != 0)
            return error;
        if (unlink(path) != 0 && errno != ENOENT)
            return jd_new_file_error(errno);
    }
    /* The umask may have taken bits away. A file system without locks is no reason to fail:
     * it only loses the protection against two files of one name. */
    fchmod(*fd, 0600);
    flock(*fd, LOCK_EX | LOCK_NB);
    return 0;
}

void jd_new_file_unlink(const char *path, int fd)
{
    struct stat ours, there;
    if (fstat(fd, &ours) == 0 && lstat(path, &there) == 0 && ours.st_dev == there.st_dev &&
        ours.st_ino == there.st_ino)
        unlink(path);
}
