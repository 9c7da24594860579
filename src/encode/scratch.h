/*
 * The memory that one description of inlining takes while it is encoded: 32-bit words on the
 * stack, or, for more than fit there, one allocation.
 */
#ifndef JITDUMP_SCRATCH_H
#define JITDUMP_SCRATCH_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* 16 KiB: small beside any thread's stack, and enough for some hundred positions. What moves
 * with it is told in docs/debug-info.md. */
#define SCRATCH_STACK_WORDS 4096

struct scratch {
    uint32_t *next;
    uint64_t left;
    uint32_t *allocated;
    uint64_t allocated_words;
    uint32_t stack[SCRATCH_STACK_WORDS];
};

static inline void scratch_init(struct scratch *scratch)
{
    scratch->allocated = NULL;
    scratch->allocated_words = 0;
}

/* Before any words are taken for a description. False: out of memory, which can't be for one that has
 * had its words before. */
static inline bool scratch_reserve(struct scratch *scratch, uint64_t words)
{
    scratch->next = scratch->stack;
    scratch->left = SCRATCH_STACK_WORDS;
    if (words <= SCRATCH_STACK_WORDS)
        return true;
    if (words > scratch->allocated_words) {
        free(scratch->allocated);
        scratch->allocated =
            words <= SIZE_MAX / sizeof(uint32_t) ? malloc((size_t)words * sizeof(uint32_t)) : NULL;
        scratch->allocated_words = scratch->allocated != NULL ? words : 0;
    }
    scratch->next = scratch->allocated;
    scratch->left = words;
    return scratch->next != NULL;
}

/* Uninitialised. */
static inline uint32_t *scratch_take(struct scratch *scratch, uint64_t words)
{
    assert(words <= scratch->left);
    uint32_t *const taken = scratch->next;
    scratch->next += words;
    scratch->left -= words;
    return taken;
}

/* Every byte of every word is `byte`: 0, or 0xff for JITDUMP_NONE. */
static inline uint32_t *scratch_take_filled(struct scratch *scratch, uint64_t words, int byte)
{
    uint32_t *const taken = scratch_take(scratch, words);
    memset(taken, byte, (size_t)words * sizeof(uint32_t));
    return taken;
}

static inline void scratch_free(struct scratch *scratch)
{
    free(scratch->allocated);
}

#endif
