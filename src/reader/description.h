/*
 * A piece's lines and inlining, from whichever records it has, in one form for all who write them:
 * the record of 2026, that of 2023, or JIT_CODE_DEBUG_INFO, the first of them that is there and
 * can be read.
 *
 * Offsets count from the code's first byte, lines and columns from 1; 0 is unknown. What lies outside
 * of the code is left out.
 *
 * The memory of a description is used again by the next jd_description_read().
 */
#ifndef JITDUMP_READER_DESCRIPTION_H
#define JITDUMP_READER_DESCRIPTION_H

#include "reader/history.h"

#define DESCRIPTION_NONE UINT32_MAX

enum description_source {
    DESCRIPTION_EMPTY, /* the piece has no record of its lines that can be read */
    DESCRIPTION_DEBUG_INFO,
    DESCRIPTION_INLINE_2023,
    DESCRIPTION_INLINE_2026
};

/* The innermost position of the code from `code_offset` to that of the next row, or, for the last,
 * to the code's end. A row of line 0 says that the line is not known. In front of the first row
 * nothing is known either. */
struct line_row {
    uint32_t code_offset;
    uint32_t file; /* index of strings; DESCRIPTION_NONE: unknown */
    uint32_t line;
    uint32_t column;
};

/* A function as the source has it. */
struct described_function {
    uint32_t name; /* index of strings */
    uint32_t file; /* index of strings; DESCRIPTION_NONE: unknown */
    uint32_t start_line;
    uint32_t start_column;
};

/* A call that is inlined. */
struct inlined_call {
    uint32_t parent;    /* the call that it is in, of a lower index; DESCRIPTION_NONE: the code's own
                           function */
    uint32_t depth;     /* 0: in the code's own function */
    uint32_t function;  /* the called one: index of functions */
    uint32_t call_file; /* where it is called: index of strings, DESCRIPTION_NONE: unknown */
    uint32_t call_line;
    uint32_t call_column;
    uint32_t first_range; /* index of ranges */
    uint32_t range_count; /* at least 1 */
};

/* Of code, from `begin` to before `end`, not empty. */
struct code_range {
    uint32_t begin;
    uint32_t end;
};

struct description {
    enum description_source source;

    /* By strictly ascending offsets. */
    struct line_row *rows;
    uint32_t row_count;

    /* functions[0] is the code's own, if there is any at all: a plain table of lines names none. */
    struct described_function *functions;
    uint32_t function_count;

    /* Depth first: a call comes behind the one it is in and before that one's next neighbour. */
    struct inlined_call *calls;
    uint32_t call_count;

    /* Those of a call are together, ascending, and do not touch. They lie within its parent's, and
     * those of different calls in the same parent do not overlap. */
    struct code_range *ranges;
    uint32_t range_count;

    /* Files and functions' names; of one record no two are equal, if that record keeps to it. They
     * point into the file. Any bytes, without a NUL. */
    struct span *strings;
    uint32_t string_count;

    struct description_memory *memory;
};

/* The innermost call at an offset, DESCRIPTION_NONE: the code's own function. Its callers are its
 * parents. */
uint32_t jd_description_call_at(const struct description *description, uint32_t code_offset);

/* The row that holds at an offset; NULL in front of the first. */
const struct line_row *jd_description_row_at(const struct description *description,
                                             uint32_t code_offset);

#endif
