/*
 * UTF-8, in text that may be anything.
 */
#ifndef JITDUMP_FORMAT_UTF8_H
#define JITDUMP_FORMAT_UTF8_H

#include "format/cursor.h"

/* How many bytes the first character takes of `text`, which is not empty: 1 to 4, and what it is.
 * 0: the first byte is part of no character. */
unsigned int jd_utf8_character(struct span text, uint32_t *code_point);

#endif
