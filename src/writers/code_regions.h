/*
 * Regions: the modules that a process's generated code is shown as, where readers want modules.
 *
 * A region holds all code that lies together, is less than 4 GiB long, and overlaps no other.
 */
#ifndef JITDUMP_WRITERS_CODE_REGIONS_H
#define JITDUMP_WRITERS_CODE_REGIONS_H

#include "reader/memory_map.h"
#include "writers/placed.h"

/* Sizes have 32 bits. */
#define CODE_REGION_LONGEST UINT64_C(0xfffff000)

struct code_region {
    uint64_t base;
    uint64_t size;
    const struct placed *pieces; /* ascending, disjoint, all within, at least one */
    size_t count;
};

struct code_regions {
    struct code_region *regions; /* ascending */
    size_t count;
    struct placed *pieces;
    size_t piece_count;
    size_t outside;      /* pieces that are in no region, and left out */
    uint64_t outside_at; /* the first of them */
};

/* Divides the pieces, which ascend and are disjoint, and takes their array over. A region is one of the
 * map's ranges; if they are `joined`, several, each where the last one ends. Ranges without code are
 * none. Of a range of more than 4 GiB it is the part from the page of a function on. False: out of
 * memory; the regions are empty. */
bool code_regions_divide(struct code_regions *regions, const struct memory_map *map, bool joined,
                         struct placed *pieces, size_t count);

void code_regions_free(struct code_regions *regions);

#endif
