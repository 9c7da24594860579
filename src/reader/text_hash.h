/*
 * FNV-1a. Names are all over a dump: by their hashes one is looked at only if it can be the right one.
 */
#ifndef JITDUMP_READER_TEXT_HASH_H
#define JITDUMP_READER_TEXT_HASH_H

#include "format/cursor.h"

static inline uint64_t text_hash(struct span text)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (uint64_t i = 0; i < text.size; i++)
        hash = (hash ^ text.data[i]) * UINT64_C(1099511628211);
    return hash;
}

#endif
