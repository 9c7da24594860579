/*
 * Which of a process's addresses are mapped: the text of /proc/PID/maps, or something like it.
 */
#ifndef JITDUMP_READER_MEMORY_MAP_H
#define JITDUMP_READER_MEMORY_MAP_H

#include "format/cursor.h"
#include "reader/problem.h"

/* From `begin` to before `end`, not empty. */
struct memory_range {
    uint64_t begin;
    uint64_t end;
};

/* An empty one is {0}. */
struct memory_map {
    struct memory_range *ranges; /* ascending, disjoint */
    uint64_t count;
    uint64_t capacity;
};

enum memory_map_error {
    MEMORY_MAP_OK,
    MEMORY_MAP_NO_MEMORY,
    MEMORY_MAP_WRONG /* see `problem`, whose offset is in the text */
};

/* Each line's first field; a NUL ends the text, too. After an error the map is empty. */
enum memory_map_error jd_memory_map_read(struct memory_map *map, struct span text,
                                         struct problem *problem);

/* One more range. If it does not begin behind all others, jd_memory_map_sort() must follow. False: out of
 * memory. */
bool jd_memory_map_add(struct memory_map *map, uint64_t begin, uint64_t end);

/* Puts ranges in their order that were added in another; those that overlap become one. */
void jd_memory_map_sort(struct memory_map *map);

/* Takes all addresses out that are in `other`. False: out of memory; the map is as it was. */
bool jd_memory_map_subtract(struct memory_map *map, const struct memory_map *other);

void jd_memory_map_free(struct memory_map *map);

#endif
