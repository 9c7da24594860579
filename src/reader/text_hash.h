/*
 * Names are all over a dump: by their hashes one is looked at only if it can be the right one.
 */
#ifndef JITDUMP_READER_TEXT_HASH_H
#define JITDUMP_READER_TEXT_HASH_H

#include "format/cursor.h"

/* Eight bytes at a time; the high half of the last product is the best mixed, and is in both halves. */
static inline uint64_t text_hash(struct span text)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    const unsigned char *at = text.data;
    uint64_t left = text.size, hash = left * factor;
    for (; left >= 8; at += 8, left -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 32;
    }
    uint64_t word = 0;
    if (left > 0)
        memcpy(&word, at, (size_t)left);
    hash = (hash ^ word) * factor;
    return hash ^ hash >> 32;
}

#endif
