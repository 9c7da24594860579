#define _GNU_SOURCE
#include "jit_memory.h"

#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORY_SIZE ((size_t)1 << 20)

static int backing_file(const char *kind)
{
    if (strcmp(kind, "memfd") == 0)
        return memfd_create("jit-code", MFD_CLOEXEC);
    if (strcmp(kind, "file") == 0) {
        char path[] = "jit-code-XXXXXX";
        int fd = mkstemp(path);
        unlink(path);
        return fd;
    }
    errx(2, "unknown kind of memory: %s", kind);
}

void jit_memory_map(struct jit_memory *memory, const char *kind)
{
    int fd = -1;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    if (strcmp(kind, "shared") == 0) {
        flags = MAP_SHARED | MAP_ANONYMOUS;
    } else if (strcmp(kind, "anonymous") != 0) {
        flags = MAP_SHARED;
        fd = backing_file(kind);
        if (fd < 0 || ftruncate(fd, (off_t)MEMORY_SIZE) != 0)
            err(2, "memory of kind %s", kind);
    }
    void *base = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, flags, fd, 0);
    if (base == MAP_FAILED)
        err(2, "mmap of executable memory");
    if (fd >= 0)
        close(fd);
    *memory = (struct jit_memory){.base = base, .size = MEMORY_SIZE};
}

uint8_t *jit_memory_take(struct jit_memory *memory, size_t size)
{
    if (size > memory->size - memory->used)
        errx(2, "out of executable memory");
    uint8_t *taken = memory->base + memory->used;
    memory->used += size;
    return taken;
}

void jit_memory_protect(struct jit_memory *memory)
{
    if (mprotect(memory->base, memory->size, PROT_READ | PROT_EXEC) != 0)
        err(2, "mprotect");
}

void jit_memory_unprotect(struct jit_memory *memory)
{
    if (mprotect(memory->base, memory->size, PROT_READ | PROT_WRITE) != 0)
        err(2, "mprotect");
}
