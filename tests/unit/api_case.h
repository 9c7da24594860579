/*
 * A dump in a temporary directory, by the public API, on a system that fails when it is told to.
 */
#ifndef API_CASE_H
#define API_CASE_H

#include "temporary.h"

#include "jitdump.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int write_errno;
static int writes;
static int malloc_fails;
static int mmap_fails;

ssize_t __real_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count)
{
    writes++;
    if (write_errno != 0) {
        errno = write_errno;
        return -1;
    }
    return __real_writev(fd, bytes, count);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    if (malloc_fails) {
        errno = ENOMEM;
        return NULL;
    }
    return __real_malloc(size);
}

void *__real_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (mmap_fails && fd < 0) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return __real_mmap(address, size, protection, flags, fd, offset);
}

static inline int set_up(void **state)
{
    write_errno = writes = malloc_fails = mmap_fails = 0;
    return make_temporary_directory(state);
}

static inline struct jitdump_options options(void)
{
    return (struct jitdump_options){.struct_size = sizeof(struct jitdump_options),
                                    .directory = directory};
}

static inline struct jitdump *open_with(const struct jitdump_options *with)
{
    struct jitdump *dump;
    assert_int_equal(jitdump_open(&dump, with), 0);
    assert_non_null(dump);
    return dump;
}

static inline struct jitdump *open_default(void)
{
    const struct jitdump_options with = options();
    return open_with(&with);
}

static inline struct jitdump_code code_of_size(uint64_t size)
{
    static unsigned char bytes[300000];
    return (struct jitdump_code){.struct_size = sizeof(struct jitdump_code),
                                 .name = "f",
                                 .code_addr = 0x1000,
                                 .code_size = size,
                                 .code_bytes = bytes};
}

static inline off_t file_size(struct jitdump *dump)
{
    struct stat status;
    assert_int_equal(stat(jitdump_path(dump), &status), 0);
    return status.st_size;
}

enum { HEADER = 40, LOAD = 56 + 2, MOVE = 64, CLOSE = 16 };

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, remove_temporary_directory)

#endif
