/*
 * A line number program of DWARF 4 (section 6.2): rows into bytes.
 */
#ifndef JITDUMP_WRITERS_LINE_PROGRAM_H
#define JITDUMP_WRITERS_LINE_PROGRAM_H

#include "writers/string_table.h"

struct line_program {
    struct bytes bytes;
    uint8_t address_size;
    /* The state machine's registers, within a sequence. */
    bool in_sequence;
    uint64_t address;
    uint32_t file;
    uint32_t line;
    uint32_t column;
};

/* From `address` on, code is at this place: `file` counts from 1; column 0: none. Addresses ascend
 * within a sequence. */
void line_program_row(struct line_program *program, uint64_t address, uint32_t file, uint32_t line,
                      uint32_t column);

/* The last row's code ends at `address`. Between two sequences nothing has a line. */
void line_program_end_sequence(struct line_program *program, uint64_t address);

/* A unit's part of .debug_line: the header, with the files by their numbers, and the program, which
 * is then empty again. */
void line_program_write(struct line_program *program, const struct string_table *files,
                        struct bytes *debug_line);

#endif
