/*
 * What is wrong with a dump, by itself.
 */
#ifndef JITDUMP_CHECK_DUMP_CHECK_H
#define JITDUMP_CHECK_DUMP_CHECK_H

#include "check/finding.h"
#include "reader/history.h"

/* Looks at every record of the dump that `history` was read from; `path` is the file's. False: out of
 * memory, and not all is found. */
bool jd_check_dump(struct findings *findings, const struct history *history, const char *path);

/* The records of one function's lines, as perf and samply will read them. */
struct line_tables {
    uint64_t count;
    /* Those of which every entry is at least 0x40 too high, as for older perfs (P11). */
    uint64_t too_high;
    uint64_t too_high_offset;
};
void jd_check_lines(struct findings *findings, struct line_tables *tables,
                    const struct dump_reader *reader, const struct piece *piece);
/* After the last of them. */
void jd_check_lines_end(struct findings *findings, const struct line_tables *tables);

/* The places of functions and of their unwinding data, over time. False: out of memory. */
bool jd_check_places(struct findings *findings, const struct history *history);

#endif
