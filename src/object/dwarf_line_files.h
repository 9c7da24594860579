/*
 * The directories and files in the header of a line table.
 */
#ifndef JITDUMP_OBJECT_DWARF_LINE_FILES_H
#define JITDUMP_OBJECT_DWARF_LINE_FILES_H

#include "dwarf_lines.h"

/* Reads both lists and adds the files' paths to `lines`. `table` is the one to number them. */
void jd_dwarf_line_files(struct cursor *cursor, const struct dwarf_unit *unit, const char *directory,
                         struct dwarf_lines *lines, struct dwarf_line_table *table);

/* Adds one, as DW_LNE_define_file does. */
void jd_dwarf_line_file(struct cursor *cursor, struct dwarf_lines *lines, struct dwarf_line_table *table);

#endif
