/*
 * A description's lines as formats without columns have them: all of the code, from its first byte on,
 * in stretches that differ from their neighbours in file or line.
 */
#ifndef JITDUMP_WRITERS_PLAIN_LINES_H
#define JITDUMP_WRITERS_PLAIN_LINES_H

#include "reader/description.h"

/* Code from `begin` to before `end`, not empty. */
struct plain_line {
    uint32_t begin;
    uint32_t end;
    uint32_t file; /* index of strings; DESCRIPTION_NONE: unknown, as always where the line is */
    uint32_t line; /* 0: unknown */
};

struct plain_lines {
    const struct description *description;
    uint32_t code_size;
    uint32_t row; /* the next one */
    uint32_t at;  /* where the next stretch begins */
};

static inline void plain_lines_begin(struct plain_lines *lines,
                                     const struct description *description, uint32_t code_size)
{
    *lines = (struct plain_lines){.description = description, .code_size = code_size};
}

/* What a row says, without its column. */
static inline struct plain_line plain_line_of(const struct line_row *row)
{
    return (struct plain_line){.file = row->line == 0 ? DESCRIPTION_NONE : row->file,
                               .line = row->line};
}

/* The next stretch. False: there are no more. */
static inline bool plain_lines_next(struct plain_lines *lines, struct plain_line *line)
{
    const struct line_row *const rows = lines->description->rows;
    const uint32_t count = lines->description->row_count;
    if (lines->at >= lines->code_size)
        return false;
    *line = (struct plain_line){.file = DESCRIPTION_NONE};
    if (lines->row < count && rows[lines->row].code_offset == lines->at)
        *line = plain_line_of(&rows[lines->row++]);
    while (lines->row < count) {
        const struct plain_line next = plain_line_of(&rows[lines->row]);
        if (next.file != line->file || next.line != line->line)
            break;
        lines->row++;
    }
    line->begin = lines->at;
    line->end = lines->row < count ? rows[lines->row].code_offset : lines->code_size;
    lines->at = line->end;
    return true;
}

#endif
