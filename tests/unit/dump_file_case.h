/*
 * A dump's file in a temporary directory, and system calls that fail when they are told to.
 */
#ifndef DUMP_FILE_CASE_H
#define DUMP_FILE_CASE_H

#include "child.h"

#include "system/dump_file.h"
#include "jitdump.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Faults. While `pass` is above 0, a call of writev is let through and counts it down;
 * then each of the results in turn: -errno, or at most so many bytes. */
static struct {
    int pass;
    int count;
    long results[4];
    int calls;
} write_faults;
static int ftruncate_errno;
static int mmap_errno;
static int flock_errno;
/* As on NFS, where a lock is one on a range of bytes: a descriptor has to be open for writing. */
static bool flock_wants_writing;

ssize_t __real_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count)
{
    write_faults.calls++;
    if (write_faults.pass > 0 || write_faults.count == 0) {
        write_faults.pass -= write_faults.pass > 0;
        return __real_writev(fd, bytes, count);
    }
    const long result = write_faults.results[0];
    memmove(write_faults.results, write_faults.results + 1, sizeof(write_faults.results) -
                                                                sizeof(write_faults.results[0]));
    write_faults.count--;
    if (result < 0) {
        errno = (int)-result;
        return -1;
    }
    size_t left = (size_t)result, done = 0;
    for (int i = 0; i < count && left > 0; i++) {
        const size_t step = bytes[i].iov_len < left ? bytes[i].iov_len : left;
        assert_int_equal(write(fd, bytes[i].iov_base, step), step);
        left -= step;
        done += step;
    }
    return (ssize_t)done;
}

int __real_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size)
{
    if (ftruncate_errno != 0) {
        errno = ftruncate_errno;
        ftruncate_errno = 0;
        return -1;
    }
    return __real_ftruncate(fd, size);
}

void *__real_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (mmap_errno != 0) {
        errno = mmap_errno;
        return MAP_FAILED;
    }
    return __real_mmap(address, size, protection, flags, fd, offset);
}

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
int __wrap_flock(int fd, int operation)
{
    if (flock_wants_writing && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) {
        errno = EBADF;
        return -1;
    }
    if (flock_errno != 0) {
        errno = flock_errno;
        return -1;
    }
    return __real_flock(fd, operation);
}

static inline int set_up(void **state)
{
    memset(&write_faults, 0, sizeof(write_faults));
    ftruncate_errno = mmap_errno = flock_errno = 0;
    flock_wants_writing = false;
    return make_temporary_directory(state);
}

static inline const struct jitdump_file_header *header(void)
{
    static struct jitdump_file_header header = {.magic = JITDUMP_MAGIC,
                                                .version = JITDUMP_FILE_VERSION,
                                                .total_size = sizeof(header),
                                                .elf_mach = 62,
                                                .timestamp = 1};
    header.pid = (uint32_t)getpid();
    return &header;
}

static struct dump_file file;

static inline int create(const char *directory)
{
    return jd_dump_file_create(&file, directory, SIGXFSZ, header());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, remove_temporary_directory)

#endif
