/*
 * A hash table of indices: which of the items seen so far equals this one? It holds no items,
 * and its memory is scratch. Open addressing, at most half full.
 */
#ifndef JITDUMP_INDEX_TABLE_H
#define JITDUMP_INDEX_TABLE_H

#include "jitdump.h"
#include "scratch.h"
#include "text.h"

struct index_table {
    uint32_t *slots; /* an index, or JITDUMP_NONE */
    uint32_t mask;
};

/* Whether the item of this index is the one that is looked for. */
typedef bool index_equal(const void *context, uint32_t index);

/* For `items` items: a power of two, at least twice as many. */
static inline uint64_t index_table_words(uint64_t items)
{
    uint64_t words = 2;
    while (words < 2 * items)
        words *= 2;
    return words;
}

static inline void index_table_init(struct index_table *table, uint64_t items,
                                    struct scratch *scratch)
{
    const uint64_t words = index_table_words(items);
    table->slots = scratch_take_filled(scratch, words, 0xff);
    table->mask = (uint32_t)(words - 1);
}

/* The slot with the index of the equal item, or the empty one where it would be. */
static inline uint32_t *index_table_find(const struct index_table *table, uint32_t hash,
                                         index_equal *equal, const void *context)
{
    /* Multiplied by an odd number near 2^32 / golden ratio, and the high half folded in, so that
     * hashes that differ little don't gather in one place. */
    hash *= UINT32_C(0x9e3779b1);
    hash ^= hash >> 16;
    for (uint32_t i = hash;; i++) {
        uint32_t *const slot = &table->slots[i & table->mask];
        if (*slot == JITDUMP_NONE || equal(context, *slot))
            return slot;
    }
}

/* FNV-1a. */
static inline uint32_t hash_text(struct text text)
{
    uint32_t hash = UINT32_C(2166136261);
    for (size_t i = 0; i < text.size; i++)
        hash = (hash ^ (unsigned char)text.bytes[i]) * UINT32_C(16777619);
    return hash;
}

#endif
