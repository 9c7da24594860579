/*
 * The addresses of an entry: from low to high, or a list in .debug_ranges or .debug_rnglists.
 */
#ifndef JITDUMP_OBJECT_DWARF_RANGES_H
#define JITDUMP_OBJECT_DWARF_RANGES_H

#include "dwarf_die.h"

struct dwarf_range {
    uint64_t start;
    uint64_t end;
};

struct dwarf_ranges {
    struct dwarf_range *items;
    size_t count;
    size_t capacity;
};

/* Adds the entry's ranges, those that are not empty. False: out of memory. */
bool jd_dwarf_ranges_add(struct dwarf_ranges *ranges, const struct dwarf_cu *cu,
                         const struct dwarf_die *die);

#endif
