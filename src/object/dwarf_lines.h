/*
 * .debug_line, versions 2 to 5: which code comes from which line.
 */
#ifndef JITDUMP_OBJECT_DWARF_LINES_H
#define JITDUMP_OBJECT_DWARF_LINES_H

#include "dwarf_line_files.h"

/* The code from `address` up to the next row's. */
struct dwarf_row {
    uint64_t address;
    uint32_t file;   /* index into the files; UINT32_MAX: unknown */
    uint32_t line;   /* 0: none */
    uint32_t column; /* 0: unknown */
    /* From here on nothing is known, if no other sequence begins. */
    bool is_end;
};

struct dwarf_lines {
    /* Addresses ascend strictly. */
    struct dwarf_row *rows;
    size_t row_count;
    size_t row_capacity;
    struct dwarf_files files;
    struct dwarf_line_table *tables;
    size_t table_count;
    size_t table_capacity;
    bool no_memory;
};

/* Reads the table at an offset, for a unit that was compiled in this directory (NULL: unknown). What can't be
 * read of it is left out, and its description returned; else NULL. */
const char *jd_dwarf_lines_add(struct dwarf_lines *lines, const struct dwarf *dwarf, uint64_t offset,
                               const char *directory, uint8_t address_size);

/* To be called once, behind the last table. */
void jd_dwarf_lines_sort(struct dwarf_lines *lines);
void jd_dwarf_lines_free(struct dwarf_lines *lines);

/* A file by the number that the table at `offset` gives it. UINT32_MAX: none. */
uint32_t jd_dwarf_lines_file(const struct dwarf_lines *lines, uint64_t offset, uint64_t number);

/* The row that covers the address. NULL: none. */
const struct dwarf_row *jd_dwarf_lines_at(const struct dwarf_lines *lines, uint64_t address);

#endif
