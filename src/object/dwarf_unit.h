/*
 * DWARF, versions 2 to 5: the sections, a unit of .debug_info, and the values of attributes.
 *
 * Supplementary and split files (dwo, dwz) are not looked for: a JIT has none.
 */
#ifndef JITDUMP_OBJECT_DWARF_UNIT_H
#define JITDUMP_OBJECT_DWARF_UNIT_H

#include "format/cursor.h"

/* The sections' bytes, relocated; those that are missing are empty. */
struct dwarf {
    struct span info;
    struct span abbrev;
    struct span str;
    struct span line;
    struct span line_str;
    struct span ranges;
    struct span rnglists;
    struct span addr;
    struct span str_offsets;
    bool swapped; /* of the other byte order than this machine's */
};

/* What the forms depend on. */
struct dwarf_unit {
    const struct dwarf *dwarf;
    uint64_t offset; /* of the unit in .debug_info */
    uint16_t version;
    bool is_64; /* offsets have 8 bytes */
    uint8_t address_size;
    uint64_t str_offsets_base;
    uint64_t addr_base;
    uint64_t rnglists_base;
};

enum dwarf_class {
    DWARF_NONE, /* could not be found, or is of no use here: a block */
    DWARF_NUMBER,
    DWARF_ADDRESS,
    DWARF_OFFSET, /* into another section; in DWARF 2 and 3 a number may be meant */
    DWARF_REFERENCE, /* into .debug_info */
    DWARF_STRING,
    DWARF_RANGE_INDEX
};

struct dwarf_value {
    enum dwarf_class class;
    uint64_t number; /* of signed ones the two's complement */
    const char *string; /* terminated */
};

/* Over a section from an offset on; empty, and failed, if it is not in it. */
struct cursor jd_dwarf_cursor(const struct dwarf *dwarf, struct span section, uint64_t offset);

/* An initial length, which says whether offsets have 64 bits. Cuts the cursor to what it covers. */
bool jd_dwarf_length(struct cursor *cursor, bool *is_64);

/* An offset, or another number of that size. */
uint64_t jd_dwarf_offset(struct cursor *cursor, bool is_64);
uint64_t jd_dwarf_address(struct cursor *cursor, uint8_t size);

/* NULL: there is no terminated string there. */
const char *jd_dwarf_string(struct span section, uint64_t offset);

/* Reads a value. False: the form is not known, so that nothing behind it can be read, or the
 * cursor has failed. */
bool jd_dwarf_form(struct cursor *cursor, const struct dwarf_unit *unit, uint64_t form,
                   int64_t implicit, struct dwarf_value *value);

/* The address of an index (DW_FORM_addrx). False: there is none. */
bool jd_dwarf_indexed_address(const struct dwarf_unit *unit, uint64_t index, uint64_t *address);

#endif
