#include "../platform/c_library.h"

#include "new_file.h"

#include "jitdump.h"
#include "write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
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

/* No errno. */
#define ELSEWHERE (-1)

/* 0 if the path leads to the open file, ELSEWHERE if it does not, or the errno with which that
 * can't be told. */
static int leads_elsewhere(const char *path, int fd)
{
    struct stat opened, there;
    if (fstat(fd, &opened) != 0)
        return errno;
    if (lstat(path, &there) != 0)
        return errno == ENOENT ? ELSEWHERE : errno;
    return opened.st_dev == there.st_dev && opened.st_ino == there.st_ino ? 0 : ELSEWHERE;
}

/* False if another one holds the lock, or that can't be told: on NFS, EBADF says that the
 * descriptor would have to be open for writing. A file system without locks is no reason to fail:
 * it only loses the protection against two files of one name. */
static bool lock_file(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EBADF);
}

/* For the lock alone, and so that nothing happens if something else has come in the place. */
static int open_for_lock(const char *path)
{
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const int fd = open(path, O_RDWR | flags); /* NFS locks nothing that is open for reading alone */
    return fd < 0 && errno == EACCES ? open(path, O_RDONLY | flags) : fd;
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
    const int fd = open_for_lock(path);
    if (fd < 0) {
        if (errno == ENOENT)
            return 0;
        /* What has come in its place meanwhile is not ours, or not to be read. EISDIR: a
         * directory. */
        const bool foreign = errno == ELOOP || errno == ENXIO || errno == EACCES ||
                             errno == EPERM || errno == EISDIR;
        return foreign ? JITDUMP_ERROR_FILE_FOREIGN : jd_new_file_error(errno);
    }
    if (!lock_file(fd)) {
        close(fd);
        return JITDUMP_ERROR_FILE_IN_USE;
    }
    /* With the lock held: who has made a file since locks it, and finds it gone. */
    int error_number = leads_elsewhere(path, fd);
    if (error_number == 0 && unlink(path) != 0 && errno != ENOENT)
        error_number = errno;
    close(fd);
    if (error_number == 0 || error_number == ELSEWHERE)
        return 0;
    errno = error_number;
    return jd_new_file_error(error_number);
}

void jd_new_file_unlink(const char *path, int fd)
{
    if (leads_elsewhere(path, fd) == 0)
        unlink(path);
}

/* Where standard input, output or error is closed, its number would be the file's, and what the
 * program prints be written into it. Returns 0 or an errno. */
static int keep_off_standard_streams(int *fd)
{
    if (*fd > STDERR_FILENO)
        return 0;
    const int other = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (other < 0)
        return errno == EINVAL ? EMFILE : errno; /* EINVAL: the limit is 3 */
    close(*fd);
    *fd = other;
    return 0;
}

/* Makes a file that was just created fit for use, or else removes it. Returns 0 or an errno;
 * ELSEWHERE if a process of the same pid in another namespace has come before the lock, and
 * taken the file for stale: it is the one to remove it. */
static int claim(const char *path, int *fd)
{
    int error_number = keep_off_standard_streams(fd);
    if (error_number == 0) {
        fchmod(*fd, 0600); /* the umask may have taken bits away */
        error_number = lock_file(*fd) ? leads_elsewhere(path, *fd) : ELSEWHERE;
    }
    if (error_number == 0)
        return 0;
    if (error_number != ELSEWHERE)
        jd_new_file_unlink(path, *fd);
    close(*fd);
    *fd = -1;
    return error_number;
}

/* O_EXCL decides: whatever is planted at the path between the steps, nothing but a file made
 * here is written to. */
int jd_new_file_open(const char *path, int *fd)
{
    for (int attempt = 0; attempt < 3; attempt++) {
        *fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (*fd < 0 && errno != EEXIST)
            return jd_new_file_error(errno);
        if (*fd < 0) {
            const int error = remove_stale(path);
            if (error != 0)
                return error;
            continue;
        }
        const int error_number = claim(path, fd);
        if (error_number == 0)
            return 0;
        if (error_number != ELSEWHERE) {
            errno = error_number;
            return jd_new_file_error(error_number);
        }
    }
    return JITDUMP_ERROR_FILE_FOREIGN; /* someone keeps putting it back */
}

/* 0 or an errno. */
static int cut_to_size(int fd, size_t size)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return errno;
    /* If someone has cut it, nothing is to make it longer, with zeros. */
    if ((uint64_t)status.st_size <= size)
        return 0;
    while (ftruncate(fd, (off_t)size) != 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

/* A moment without a file at the path would be one too many: hence another name and rename(). */
int jd_new_file_replace(const char *path, int fd, const void *bytes, size_t size)
{
    const int error_number = leads_elsewhere(path, fd);
    if (error_number != 0)
        return error_number == ELSEWHERE ? 0 : error_number;
    char new_path[PATH_MAX];
    int new_fd;
    const int length = snprintf(new_path, sizeof(new_path), "%s.new", path);
    if (length < 0 || (size_t)length >= sizeof(new_path) || jd_new_file_open(new_path, &new_fd) != 0)
        return cut_to_size(fd, size);
    const struct iovec vector = {(void *)(uintptr_t)bytes, size};
    const bool replaced = jd_write_all(new_fd, &vector, 1) == size && rename(new_path, path) == 0;
    if (!replaced)
        jd_new_file_unlink(new_path, new_fd);
    jd_new_file_close(new_fd);
    return replaced ? 0 : cut_to_size(fd, size);
}

bool jd_new_file_close(int fd)
{
    flock(fd, LOCK_UN);
    return close(fd) == 0 || errno == EINTR; /* after which it is closed too */
}
