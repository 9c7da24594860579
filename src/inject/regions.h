/*
 * The parts of an address space that a process's generated code lies in: no library's code lies within
 * one, and each is small enough for one ELF file.
 */
#ifndef JITDUMP_INJECT_REGIONS_H
#define JITDUMP_INJECT_REGIONS_H

#include "inject/ranges.h"

struct regions {
    struct range *of; /* ascending */
    uint64_t count;
    uint64_t capacity;
};

/* Code, by ascending address; `foreign` has what must not lie within a region. False: out of memory. */
bool jd_regions_add(struct regions *regions, uint64_t begin, uint64_t end, struct ranges *foreign);

/* The last one that begins at the address or below. */
const struct range *jd_regions_find(const struct regions *regions, uint64_t address);

void jd_regions_free(struct regions *regions);

#endif
