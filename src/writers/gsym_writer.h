/*
 * Placed pieces of code -> a GSYM file: which function, which inlined calls and which line is at an
 * address, and nothing else. No code, no columns, no unwinding data.
 *
 * Version 1, which all readers know:
 *
 *     header (48 bytes), address offsets, offsets of the functions, files, strings, functions
 *
 * Version 2 has the same parts, with offsets of 64 bits, and says in a table where each is.
 */
#ifndef JITDUMP_WRITERS_GSYM_WRITER_H
#define JITDUMP_WRITERS_GSYM_WRITER_H

#include "writers/placed.h"

struct gsym_options {
    unsigned version; /* 1 or 2 */
    /* What could not be read is told here and left out, and how many of the pieces are done. May be
     * NULL. */
    const struct problems *problems;
};

struct gsym_result {
    /* That of an ELF file of the same pieces, made without options. */
    unsigned char build_id[DIGEST_SIZE];
    uint64_t described; /* pieces with lines */
    int system_error;   /* of GSYM_NOT_WRITTEN: an errno value */
};

enum gsym_error {
    GSYM_OK,
    GSYM_NO_MEMORY,
    GSYM_NOT_WRITTEN,
    GSYM_EMPTY,        /* there are no pieces: readers crash on such a file */
    GSYM_OUT_OF_ORDER, /* pieces do not ascend, or overlap, or are empty */
    GSYM_TOO_LARGE     /* more than 4 GiB, where version 1 ends, or of strings in version 2 */
};

/* A static text for people. */
const char *gsym_strerror(enum gsym_error error);

/* Writes the file, which must be empty. The pieces ascend and are disjoint, and all of this
 * history. After an error what is in the file is of no use. */
enum gsym_error gsym_write(int fd, const struct history *history, const struct placed *pieces,
                           size_t count, const struct gsym_options *options,
                           struct gsym_result *result);

#endif
