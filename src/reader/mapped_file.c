#define _DEFAULT_SOURCE /* madvise */
#ifndef __LP64__
#define _FILE_OFFSET_BITS 64 /* a dump of more than 2 GiB is told to be too large, not refused */
#endif

#include "reader/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Enough that the calls cost nothing beside the reading. */
#define PASSED_BYTES (UINT64_C(16) << 20)

static int map(struct mapped_file *file, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return errno;
    if (!S_ISREG(status.st_mode))
        return EINVAL;
    if (status.st_size == 0)
        return 0;
    if ((uint64_t)status.st_size > SIZE_MAX)
        return EFBIG;
    void *const data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return errno == ENOMEM ? EFBIG : errno;
    *file = (struct mapped_file){data, (uint64_t)status.st_size, true};
    return 0;
}

int jd_mapped_file_open(struct mapped_file *file, const char *path)
{
    *file = (struct mapped_file){0};
    /* Without O_NONBLOCK, opening a pipe would wait for somebody to write to it. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno;
    const int error = map(file, fd);
    close(fd);
    return error;
}

void jd_mapped_file_close(struct mapped_file *file)
{
    if (file->mapped)
        munmap((void *)(uintptr_t)file->data, (size_t)file->size);
    *file = (struct mapped_file){0};
}

bool jd_mapped_file_pass(const struct mapped_file *file, uint64_t *passed, uint64_t offset)
{
    if (!file->mapped || offset < *passed || offset - *passed < PASSED_BYTES)
        return false;
    const uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t first = *passed / page_size * page_size;
    const uint64_t last = offset / page_size * page_size;
    madvise((void *)(uintptr_t)(file->data + first), (size_t)(last - first), MADV_DONTNEED);
    *passed = offset;
    return true;
}

void jd_mapped_file_release(const struct mapped_file *file)
{
    if (file->mapped)
        madvise((void *)(uintptr_t)file->data, (size_t)file->size, MADV_DONTNEED);
}
