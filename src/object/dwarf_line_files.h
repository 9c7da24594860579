/*
 * The directories and files in the header of a line table.
 */
#ifndef JITDUMP_OBJECT_DWARF_LINE_FILES_H
#define JITDUMP_OBJECT_DWARF_LINE_FILES_H

#include "dwarf_unit.h"

/* Paths as they stand there, put together: absolute as far as the table says so. */
struct dwarf_files {
    char **items;
    size_t count;
    size_t capacity;
    bool no_memory;
};

/* One table, which a unit names by its offset: its files are `file_count` from `first_file` on. */
struct dwarf_line_table {
    uint64_t offset;
    uint32_t first_file;
    uint32_t file_count;
    bool from_zero; /* files are numbered from 0, else from 1 */
};

/* Reads both lists and adds the files' paths to `files`. `table` is the one to number them. */
void jd_dwarf_line_files(struct cursor *cursor, const struct dwarf_unit *unit, const char *directory,
                         struct dwarf_files *files, struct dwarf_line_table *table);

/* Adds one, as DW_LNE_define_file does. */
void jd_dwarf_line_file(struct cursor *cursor, struct dwarf_files *files, struct dwarf_line_table *table);

#endif
