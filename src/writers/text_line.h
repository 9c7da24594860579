/*
 * Lines of text with numbers in them.
 */
#ifndef JITDUMP_WRITERS_TEXT_LINE_H
#define JITDUMP_WRITERS_TEXT_LINE_H

#include "format/cursor.h"
#include "writers/bytes.h"

enum { NUMBER_TEXT_MAX = 20 }; /* digits of a number of 64 bits */

static inline void line_text(struct bytes *line, const char *text)
{
    bytes_copy(line, text, strlen(text));
}

static inline void line_span(struct bytes *line, struct span text)
{
    bytes_copy(line, text.data, (size_t)text.size);
}

static inline void line_number(struct bytes *line, uint64_t number, unsigned base)
{
    unsigned char digits[NUMBER_TEXT_MAX];
    unsigned char *first = digits + sizeof(digits);
    do
        *--first = (unsigned char)"0123456789abcdef"[number % base];
    while ((number /= base) != 0);
    bytes_copy(line, first, (size_t)(digits + sizeof(digits) - first));
}

static inline void line_hex(struct bytes *line, uint64_t number)
{
    line_number(line, number, 16);
}

static inline void line_decimal(struct bytes *line, uint64_t number)
{
    line_number(line, number, 10);
}

static inline void line_signed(struct bytes *line, int64_t number)
{
    if (number < 0)
        bytes_u8(line, '-');
    line_decimal(line, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

#endif
