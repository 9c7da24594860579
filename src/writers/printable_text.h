/*
 * Names and files of a dump as text that no line-based tool stumbles over.
 */
#ifndef JITDUMP_WRITERS_PRINTABLE_TEXT_H
#define JITDUMP_WRITERS_PRINTABLE_TEXT_H

#include "format/cursor.h"
#include "writers/bytes.h"

static inline bool is_control(unsigned char byte)
{
    return byte < 0x20 || byte == 0x7f;
}

/* The text, with "?" for control characters. `memory` is used if there are any; the result lasts as
 * long as its bytes do. Out of memory, it is empty. */
static inline struct span printable_text(struct span text, struct bytes *memory)
{
    uint64_t at = 0;
    while (at < text.size && !is_control(text.data[at]))
        at++;
    if (at == text.size)
        return text;
    memory->size = 0;
    bytes_copy(memory, text.data, (size_t)text.size);
    for (; at < memory->size; at++)
        if (is_control(memory->data[at]))
            memory->data[at] = '?';
    return (struct span){memory->data, memory->size};
}

#endif
