/*
 * Sets of addresses: ranges that are added in any order, and then asked.
 */
#ifndef JITDUMP_INJECT_RANGES_H
#define JITDUMP_INJECT_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct range {
    uint64_t begin;
    uint64_t end;
};

struct ranges {
    struct range *ranges; /* ascending and disjoint, once settled */
    uint64_t count;
    uint64_t capacity;
    bool settled;
};

void jd_ranges_free(struct ranges *ranges);

/* False: out of memory. */
bool jd_ranges_add(struct ranges *ranges, uint64_t begin, uint64_t end);

/* Whether any of begin to before end is in the set. */
bool jd_ranges_overlap(struct ranges *ranges, uint64_t begin, uint64_t end);

/* The highest place for `size` bytes that lies from `lowest` to before `end` and outside of the set, at
 * a multiple of `alignment`. From then on it is in the set, with what is left between it and `end`, or the
 * range above it. 0: there is none, or no memory. */
uint64_t jd_ranges_take_hole(struct ranges *ranges, uint64_t lowest, uint64_t end, uint64_t size,
                             uint64_t alignment);

#endif
