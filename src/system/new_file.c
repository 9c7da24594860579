#include "../platform/c_library.h"

#include "new_file.h"

#include "jitdump.h"
#include "process_file.h"
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

/* On macOS open() announces a dump (see jd_announce()), openat() does not. */
static int open_file(const char *path, int flags)
{
#if defined(__APPLE__)
    return openat(AT_FDCWD, path, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
#else
    return open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
#endif
}

/* No errno. */
#define ELSEWHERE (-1)

/* No error yet. */
#define LIVING_RIVAL 1

/* Finds out which file it is. Returns 0 or an errno. */
static int identify(struct new_file *file, struct stat *status)
{
    if (fstat(file->fd, status) != 0)
        return errno;
    file->device = (uint64_t)status->st_dev;
    file->inode = (uint64_t)status->st_ino;
    return 0;
}

static bool is_file(const struct new_file *file, const struct stat *status)
{
    return (uint64_t)status->st_dev == file->device && (uint64_t)status->st_ino == file->inode;
}

/* 0 if the path leads to the file, ELSEWHERE if it does not, or the errno with which that can't be
 * told. */
static int leads_elsewhere(const char *path, const struct new_file *file)
{
    struct stat there;
    if (lstat(path, &there) != 0)
        return errno == ENOENT ? ELSEWHERE : errno;
    return is_file(file, &there) ? 0 : ELSEWHERE;
}

/* Before the first append, which goes to the end whatever the position is: one that no other file
 * is likely to have, as 0. */
static off_t first_position(const struct new_file *file)
{
    return (off_t)(file->inode % INT32_MAX) + 1;
}

static void set_first_position(struct new_file *file)
{
#if defined(__APPLE__)
    /* macOS compares where the descriptor is, rather than the file's end, with RLIMIT_FSIZE. */
    atomic_store_explicit(&file->position, -1, memory_order_relaxed);
#else
    atomic_store_explicit(&file->position, lseek(file->fd, first_position(file), SEEK_SET),
                          memory_order_relaxed);
#endif
}

/* The position of another file's descriptor is another, or there is none: to ask for it costs half
 * of fstat(), which also has the kernel note a time of its own for the write that follows. */
static bool is_where_it_was(const struct new_file *file, off_t *at)
{
    *at = lseek(file->fd, 0, SEEK_CUR);
    return *at >= 0 && *at == atomic_load_explicit(&file->position, memory_order_relaxed);
}

/* The position may have changed with the file's size, by someone else's doing. errno tells why it
 * is not. */
static bool is_the_same(const struct new_file *file)
{
    struct stat status;
    if (fstat(file->fd, &status) != 0)
        return false;
    errno = EBADF;
    return is_file(file, &status);
}

bool jd_new_file_is_open(const struct new_file *file)
{
    off_t at;
    return file->fd >= 0 && (is_where_it_was(file, &at) || is_the_same(file));
}

size_t jd_new_file_append(struct new_file *file, const struct iovec *bytes, int count)
{
    off_t at;
    const bool known = is_where_it_was(file, &at);
    if (!known && !is_the_same(file))
        return 0;
    const size_t written = jd_write_all(file->fd, bytes, count, file->signal);
    const int error_number = errno;
    const bool at_end = known && at != first_position(file);
    const off_t end = at_end ? at + (off_t)written : lseek(file->fd, 0, SEEK_CUR);
    atomic_store_explicit(&file->position, end, memory_order_relaxed);
    errno = error_number;
    return written;
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
    /* NFS locks nothing through a descriptor that is open for reading alone. */
    const int fd = open_file(path, O_RDWR | O_NONBLOCK);
    return fd < 0 && errno == EACCES ? open_file(path, O_RDONLY | O_NONBLOCK) : fd;
}

/* Removes what has the name, if it is a stale file. A living one is known by its lock, which also
 * tells apart equal pids of different pid namespaces; a rival's by its age. */
static int remove_stale(const char *path, enum new_file_rival rival)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT ? 0 : jd_new_file_error(errno);
    if (!S_ISREG(status.st_mode) || status.st_uid != geteuid())
        return JITDUMP_ERROR_FILE_FOREIGN;
    struct new_file stale = {.fd = open_for_lock(path)};
    if (stale.fd < 0) {
        if (errno == ENOENT)
            return 0;
        /* What has come in its place meanwhile is not ours, or not to be read. EISDIR: a
         * directory. */
        const bool foreign = errno == ELOOP || errno == ENXIO || errno == EACCES ||
                             errno == EPERM || errno == EISDIR;
        return foreign ? JITDUMP_ERROR_FILE_FOREIGN : jd_new_file_error(errno);
    }
    if (!lock_file(stale.fd)) {
        close(stale.fd);
        return JITDUMP_ERROR_FILE_IN_USE;
    }
    int error_number = identify(&stale, &status);
    if (error_number == 0 && rival != NEW_FILE_NO_RIVAL &&
        jd_process_file_is_living(path, &status)) {
        close(stale.fd);
        return LIVING_RIVAL;
    }
    /* With the lock held: who has made a file since locks it, and finds it gone. */
    if (error_number == 0)
        error_number = leads_elsewhere(path, &stale);
    if (error_number == 0 && unlink(path) != 0 && errno != ENOENT)
        error_number = errno;
    close(stale.fd);
    if (error_number == 0 || error_number == ELSEWHERE)
        return 0;
    errno = error_number;
    return jd_new_file_error(error_number);
}

void jd_new_file_unlink(const char *path, const struct new_file *file)
{
    if (!file->is_joined && leads_elsewhere(path, file) == 0)
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
static int claim(const char *path, enum new_file_rival rival, struct new_file *file)
{
    struct stat status;
    int error_number = identify(file, &status);
    if (error_number == 0 && rival != NEW_FILE_NO_RIVAL)
        jd_process_file_made(path, file->device, file->inode);
    if (error_number == 0)
        error_number = keep_off_standard_streams(&file->fd);
    if (error_number == 0) {
        fchmod(file->fd, 0600); /* the umask may have taken bits away */
        set_first_position(file);
        error_number = lock_file(file->fd) ? leads_elsewhere(path, file) : ELSEWHERE;
    }
    if (error_number == 0)
        return 0;
    if (error_number != ELSEWHERE && identify(file, &status) == 0)
        jd_new_file_unlink(path, file);
    jd_process_file_closed(file->device, file->inode, file->fd);
    close(file->fd);
    *file = NEW_FILE_NONE;
    return error_number;
}

/* A file of this user's that is not meant may have been linked there: nothing is appended to what
 * has a second name. */
static int join(const char *path, int signal, struct new_file *file)
{
    struct stat status;
    file->fd = open_file(path, O_RDWR | O_APPEND | O_NONBLOCK);
    if (file->fd < 0)
        return JITDUMP_ERROR_FILE_FOREIGN;
    int error = 0;
    if (keep_off_standard_streams(&file->fd) != 0)
        error = JITDUMP_ERROR_TOO_MANY_FILES;
    else if (identify(file, &status) != 0 || !S_ISREG(status.st_mode) ||
             status.st_uid != geteuid() || status.st_nlink != 1)
        error = JITDUMP_ERROR_FILE_FOREIGN;
    else if (!lock_file(file->fd))
        error = JITDUMP_ERROR_FILE_IN_USE;
    if (error != 0) {
        close(file->fd);
        *file = NEW_FILE_NONE;
        return error;
    }
    file->is_joined = true;
    file->signal = signal;
    set_first_position(file);
    return 0;
}

/* O_EXCL decides: whatever is planted at the path between the steps, nothing but a file made
 * here is written to. */
int jd_new_file_open(const char *path, enum new_file_rival rival, int signal,
                     struct new_file *file)
{
    for (int attempt = 0; attempt < 3; attempt++) {
        *file = NEW_FILE_NONE;
        file->signal = signal;
        file->fd = open_file(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL);
        if (file->fd < 0 && errno != EEXIST)
            return jd_new_file_error(errno);
        if (file->fd < 0) {
            const int error = remove_stale(path, rival);
            if (error == LIVING_RIVAL)
                return rival == NEW_FILE_TO_JOIN ? join(path, signal, file)
                                                : JITDUMP_ERROR_FILE_IN_USE;
            if (error != 0)
                return error;
            continue;
        }
        const int error_number = claim(path, rival, file);
        if (error_number == 0)
            return 0;
        if (error_number != ELSEWHERE) {
            errno = error_number;
            return jd_new_file_error(error_number);
        }
    }
    return JITDUMP_ERROR_FILE_FOREIGN; /* someone keeps putting it back */
}

/* What a file must be that others have opened, and O_APPEND besides. */
static bool will_do(struct new_file *file)
{
    struct stat status;
    if (identify(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != 0)
        return false;
    const int flags = fcntl(file->fd, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) == O_RDWR &&
           ((flags & O_APPEND) != 0 || fcntl(file->fd, F_SETFL, flags | O_APPEND) == 0);
}

int jd_new_file_adopt(int descriptor, int signal, struct new_file *file)
{
    *file = NEW_FILE_NONE;
    file->signal = signal;
    file->fd = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (file->fd < 0) {
        const int error = jd_new_file_error(errno == EINVAL ? EMFILE : errno);
        return error == JITDUMP_ERROR_TOO_MANY_FILES || error == JITDUMP_ERROR_NO_MEMORY
                   ? error
                   : JITDUMP_ERROR_DESCRIPTOR;
    }
    const int error = !will_do(file)          ? JITDUMP_ERROR_DESCRIPTOR
                      : !lock_file(file->fd) ? JITDUMP_ERROR_FILE_IN_USE
                                             : 0;
    if (error == 0) {
        set_first_position(file);
        return 0;
    }
    close(file->fd);
    *file = NEW_FILE_NONE;
    return error;
}

int jd_new_file_cut(const struct new_file *file, size_t size)
{
    struct stat status;
    if (!jd_new_file_is_open(file))
        return EBADF;
    if (fstat(file->fd, &status) != 0)
        return errno;
    /* If someone has cut it, nothing is to make it longer, with zeros. */
    if ((uint64_t)status.st_size <= size)
        return 0;
    while (ftruncate(file->fd, (off_t)size) != 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

/* A moment without a file at the path would be one too many: hence another name and rename(). */
int jd_new_file_replace(const char *path, const struct new_file *file, const void *bytes,
                        size_t size)
{
    const int error_number = leads_elsewhere(path, file);
    if (error_number != 0)
        return error_number == ELSEWHERE ? 0 : error_number;
    char new_path[PATH_MAX];
    struct new_file new_file;
    const int length = snprintf(new_path, sizeof(new_path), "%s.new", path);
    if (length < 0 || (size_t)length >= sizeof(new_path) ||
        jd_new_file_open(new_path, NEW_FILE_NO_RIVAL, file->signal, &new_file) != 0)
        return jd_new_file_cut(file, size);
    const struct iovec vector = {(void *)(uintptr_t)bytes, size};
    const bool replaced =
        jd_new_file_append(&new_file, &vector, 1) == size && rename(new_path, path) == 0;
    if (replaced)
        jd_process_file_made(path, new_file.device, new_file.inode);
    else
        jd_new_file_unlink(new_path, &new_file);
    jd_new_file_close(&new_file);
    return replaced ? 0 : jd_new_file_cut(file, size);
}

bool jd_new_file_close(struct new_file *file)
{
    bool closed = true;
    const bool is_open = jd_new_file_is_open(file);
    jd_process_file_closed(file->device, file->inode, is_open ? file->fd : -1);
    if (is_open) {
        flock(file->fd, LOCK_UN);
        closed = close(file->fd) == 0 || errno == EINTR; /* after which it is closed too */
    }
    *file = NEW_FILE_NONE;
    return closed;
}

void jd_new_file_abandon(struct new_file *file)
{
    if (jd_new_file_is_open(file))
        close(file->fd);
    *file = NEW_FILE_NONE;
}
