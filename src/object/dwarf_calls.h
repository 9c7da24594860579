/*
 * .debug_info: the functions that have code, and the calls that are inlined in them.
 */
#ifndef JITDUMP_OBJECT_DWARF_CALLS_H
#define JITDUMP_OBJECT_DWARF_CALLS_H

#include "dwarf_lines.h"
#include "dwarf_ranges.h"

#define DWARF_NO_CALL UINT32_MAX

struct dwarf_call {
    /* As the linker would know it, or else as the source does. "": unknown. */
    const char *name;
    /* Where the function is declared: index into the files, UINT32_MAX: unknown. */
    uint32_t file;
    uint32_t line;
    /* Index of the call, or function, that it is inlined in, and where there. Of a function:
     * DWARF_NO_CALL. */
    uint32_t parent;
    uint32_t call_file;
    uint32_t call_line;
    uint32_t call_column;
    uint32_t depth; /* 0: a function */
    /* In `ranges`. */
    size_t first_range;
    size_t range_count;
};

struct dwarf_calls {
    /* A call stands behind what it is inlined in. */
    struct dwarf_call *items;
    size_t count;
    size_t capacity;
    struct dwarf_ranges ranges;
    bool no_memory;
};

/* Reads all units: their line tables into `lines`, which is sorted then. The strings are the sections'. What
 * can't be read of a unit is left out. */
void jd_dwarf_calls_read(struct dwarf_calls *calls, struct dwarf_lines *lines, const struct dwarf *dwarf);
void jd_dwarf_calls_free(struct dwarf_calls *calls);

#endif
