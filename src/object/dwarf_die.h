/*
 * Units and entries of .debug_info.
 */
#ifndef JITDUMP_OBJECT_DWARF_DIE_H
#define JITDUMP_OBJECT_DWARF_DIE_H

#include "dwarf_abbrevs.h"

/* What is used of an entry. */
struct dwarf_die {
    uint64_t tag; /* 0: no entry, but the end of a list of children */
    bool has_children;
    const char *name; /* NULL: none */
    const char *linkage_name;
    const char *directory;
    struct dwarf_value low;
    struct dwarf_value high; /* a number: counts from `low` */
    struct dwarf_value ranges;
    struct dwarf_value origin; /* the abstract instance, or the declaration */
    struct dwarf_value lines;
    uint64_t decl_file;
    uint64_t decl_line;
    uint64_t call_file;
    uint64_t call_line;
    uint64_t call_column;
};

/* A unit, as far as its header and its first entry say. */
struct dwarf_cu {
    struct dwarf_unit unit;
    uint64_t end; /* in .debug_info */
    uint64_t abbrev_offset;
    uint64_t entries; /* where the first is */
    struct dwarf_die die;
};

/* The header of the unit at the cursor, which is moved behind the unit. False: there is none that can be
 * read; what follows the unit can be read if the cursor has not failed. */
bool jd_dwarf_cu_read(struct cursor *cursor, const struct dwarf *dwarf, struct dwarf_cu *cu);

/* Sets cu->die and what it says of the unit. */
bool jd_dwarf_cu_describe(struct dwarf_cu *cu, const struct dwarf_abbrevs *abbrevs);

/* The entry at the cursor. False: it can't be read, and nor can what follows. */
bool jd_dwarf_die_read(struct cursor *cursor, const struct dwarf_unit *unit,
                       const struct dwarf_abbrevs *abbrevs, struct dwarf_die *die);

#endif
