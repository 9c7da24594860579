#include "platform/c_library.h"

#include "memory.h"

#include "jitdump.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

void *jd_memory_copy(uint64_t address, uint64_t size)
{
    const uintptr_t start = (uintptr_t)address;
    if (size > JITDUMP_CODE_SIZE_MAX || start != address || size > UINTPTR_MAX - start)
        return NULL;
    unsigned char *const copy = malloc((size_t)size + (size == 0));
    if (copy == NULL)
        return NULL;
    const int saved_errno = errno;
    const struct iovec to = {copy, (size_t)size};
    /* The numbers say where; nobody has a pointer to it. */
    const struct iovec from = {(void *)start, (size_t)size}; // NOLINT(performance-no-int-to-ptr)
    const ssize_t copied = size != 0 ? process_vm_readv(getpid(), &to, 1, &from, 1, 0) : 0;
    if (copied < 0 && errno != EFAULT && errno != ENOMEM) {
        /* Not permitted here, or unknown to the kernel: as any emitter reads it. */
        memcpy(copy, from.iov_base, (size_t)size);
    } else if (copied != (ssize_t)size) {
        free(copy);
        errno = saved_errno;
        return NULL;
    }
    errno = saved_errno;
    return copy;
}

/* Since Linux 5.14. It changes nothing where memory has been written before. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static int populate(uintptr_t address)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    return madvise((void *)(address / page * page), page, MADV_POPULATE_WRITE); // NOLINT
}

bool jd_memory_is_read_only(uint64_t address)
{
    static char writable;
    const int saved_errno = errno;
    const bool refused = populate((uintptr_t)address) != 0 && errno == EINVAL &&
                         populate((uintptr_t)&writable) == 0; /* the kernel knows the advice */
    errno = saved_errno;
    return refused;
}

/* A line of the file, "START-END PERMISSIONS ...". */
static void take_mapping(const char *line, found_memory *found, void *context)
{
    uint64_t start;
    uint64_t end;
    char permissions[5];
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, permissions) == 3 &&
        permissions[2] == 'x')
        found(start, end, context);
}

void jd_memory_executable(found_memory *found, void *context)
{
    char *line = NULL;
    size_t capacity = 0;
    FILE *const file = fopen("/proc/self/maps", "re");
    if (file == NULL)
        return;
    while (getline(&line, &capacity, file) > 0)
        take_mapping(line, found, context);
    free(line);
    fclose(file);
}
