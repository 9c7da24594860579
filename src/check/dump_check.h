/*
 * What is wrong with a dump, by itself.
 */
#ifndef JITDUMP_CHECK_DUMP_CHECK_H
#define JITDUMP_CHECK_DUMP_CHECK_H

#include "check/finding.h"
#include "reader/history.h"

/* Looks at every record of the dump that `history` was read from; `path` is the file's. False: out of
 * memory, and not all is found. What it and the functions below are done with they give back of `file`. */
bool jd_check_dump(struct findings *findings, const struct history *history,
                   const struct mapped_file *file, const char *path);

/* The record of one function's lines, as perf and samply will read it. */
void jd_check_lines(struct findings *findings, const struct history *history,
                    const struct piece *piece);

/* The records of inlining. False: out of memory. */
bool jd_check_inlining(struct findings *findings, const struct history *history,
                       const struct mapped_file *file);

/* The places of functions and of their unwinding data, over time. False: out of memory. */
bool jd_check_places(struct findings *findings, const struct history *history,
                     const struct mapped_file *file);

#endif
