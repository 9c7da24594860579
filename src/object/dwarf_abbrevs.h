/*
 * .debug_abbrev: which attributes the entries of a unit have, and in which forms.
 */
#ifndef JITDUMP_OBJECT_DWARF_ABBREVS_H
#define JITDUMP_OBJECT_DWARF_ABBREVS_H

#include "dwarf_unit.h"

struct dwarf_abbrev {
    uint64_t code;
    uint64_t tag;
    bool has_children;
    /* Where the attributes begin in .debug_abbrev. */
    uint64_t attributes;
};

struct dwarf_abbrevs {
    struct dwarf_abbrev *items; /* by code */
    size_t count;
    size_t capacity;
};

/* Reads the table at an offset. What is behind something broken is left out. False: out of memory. */
bool jd_dwarf_abbrevs_read(struct dwarf_abbrevs *abbrevs, const struct dwarf *dwarf, uint64_t offset);
void jd_dwarf_abbrevs_free(struct dwarf_abbrevs *abbrevs);

/* NULL: there is none of this code. */
const struct dwarf_abbrev *jd_dwarf_abbrev(const struct dwarf_abbrevs *abbrevs, uint64_t code);

/* The next attribute at the cursor, which is in .debug_abbrev. False: that was the last. */
bool jd_dwarf_abbrev_attribute(struct cursor *cursor, uint64_t *attribute, uint64_t *form,
                               int64_t *implicit);

#endif
