/*
 * Names and files of a dump as text that the readers of a format take.
 */
#ifndef JITDUMP_WRITERS_PRINTABLE_TEXT_H
#define JITDUMP_WRITERS_PRINTABLE_TEXT_H

#include "format/cursor.h"
#include "writers/bytes.h"

enum text_rule {
    TEXT_BYTES, /* any bytes but control characters, which no line-based tool stumbles over */
    TEXT_UTF8,  /* those of UTF-8 alone */
    TEXT_FIELD  /* the same as the last field of a line: without spaces at its ends, and cut short after
                   4096 bytes */
};

/* The text, with "?" for each byte that must not be. Of a TEXT_FIELD nothing may be left. `memory` is
 * used if there are any; the result lasts as long as its bytes do. Out of memory, it is empty. */
struct span printable_text(struct span text, enum text_rule rule, struct bytes *memory);

/* The same, and for a function without a name, or nothing left of it, "<anonymous>". */
struct span printable_name(struct span name, enum text_rule rule, struct bytes *memory);

#endif
