/*
 * Text from a dump, on its way to people or programs. It may hold anything, and what it holds must
 * neither drive a terminal nor look like a line of the tool's own.
 */
#ifndef JITDUMP_TOOL_TEXT_H
#define JITDUMP_TOOL_TEXT_H

#include "format/cursor.h"

#include <stdbool.h>
#include <stdio.h>

/* A character of UTF-8, or a byte that is part of none. */
struct character {
    uint32_t code_point; /* of a stray byte, the byte */
    unsigned int size;   /* in bytes */
    bool stray;
    /* Shows as itself and nothing else: no control character, no change of the writing direction. */
    bool printable;
};

/* The first character of `text`, which is not empty. */
struct character next_character(struct span text);

/* What is not printable as \n, \t, \xNN (bytes) or \u{NNNN}. */
void print_text(FILE *to, struct span text);
/* The same for what ends with a NUL. */
void print_string(FILE *to, const char *text);

#endif
