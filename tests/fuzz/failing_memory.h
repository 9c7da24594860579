/*
 * An allocation that fails: for targets whose malloc(), calloc() and realloc() are wrapped.
 */
#ifndef FAILING_MEMORY_H
#define FAILING_MEMORY_H

#include "require.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The allocation that fails, counted down; 0: none. */
static unsigned failing;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool fails(void)
{
    return failing > 0 && --failing == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

/* Of a part of the input, so that what is behind it is guarded. Never fails; free() it. */
static inline unsigned char *copy(const uint8_t *bytes, size_t size)
{
    unsigned char *const result = __real_malloc(size > 0 ? size : 1);
    REQUIRE(result != NULL);
    memcpy(result, bytes, size);
    return result;
}

#endif
