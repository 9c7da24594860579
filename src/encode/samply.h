/*
 * samply's records that are not about lines or inlining: SAMPLY_JIT_TIER and
 * SAMPLY_EMBEDDED_SOURCE_FILE.
 */
#ifndef JITDUMP_SAMPLY_H
#define JITDUMP_SAMPLY_H

#include "stamp.h"
#include "sources.h"
#include "tiers.h"

#pragma GCC visibility push(hidden)

uint64_t jd_samply_tier_size(const struct tier *tier);
unsigned char *jd_samply_tier_write(unsigned char *to, const struct record_stamp *stamp,
                                    const struct tier *tier);

/* A source's record up to the path; the text and its padding are the tail. */
int jd_samply_source_check(const struct source *source, uint64_t *head_size);
unsigned char *jd_samply_source_write(unsigned char *to, const struct record_stamp *stamp,
                                      const void *source);

/* How many zeros lie between `size` and the next multiple of 4. */
static inline uint64_t samply_padding(uint64_t size)
{
    return -size & 3;
}

#pragma GCC visibility pop

#endif
