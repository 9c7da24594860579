/* Executable memory, from each of the places that a JIT may take it from. */
#ifndef JIT_MEMORY_H
#define JIT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct jit_memory {
    uint8_t *base;
    size_t size;
    size_t used;
};

/* `kind`: anonymous, shared (anonymous, MAP_SHARED), memfd, or file (in the current
 * directory, removed at once). Ends the process with a message on failure. */
void jit_memory_map(struct jit_memory *, const char *kind);

/* The next `size` bytes, which begin where the last ones ended. */
uint8_t *jit_memory_take(struct jit_memory *, size_t size);

/* Makes all of it executable anew, as a JIT does that keeps pages either writable or
 * executable. Each call is a new mapping event for a profiler. */
void jit_memory_protect(struct jit_memory *);
void jit_memory_unprotect(struct jit_memory *);

#endif
