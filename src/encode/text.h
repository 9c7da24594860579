/*
 * The caller's strings: with a size of their own, or up to their NUL.
 */
#ifndef JITDUMP_TEXT_H
#define JITDUMP_TEXT_H

#include "../format/put.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct text {
    const char *bytes; /* none of them is NUL */
    size_t size;       /* 0: there is no text */
};

/* A NUL inside would end the string for every reader, and so it ends it here. `size` 0: it has one. */
static inline struct text text_of(const char *bytes, uint64_t size)
{
    if (bytes == NULL)
        return (struct text){NULL, 0};
    if (size == 0)
        return (struct text){bytes, strlen(bytes)};
    return (struct text){bytes, strnlen(bytes, size < SIZE_MAX ? (size_t)size : SIZE_MAX)};
}

static inline bool text_is_equal(struct text one, struct text other)
{
    return one.size == other.size && (one.size == 0 || one.bytes == other.bytes ||
                                      memcmp(one.bytes, other.bytes, one.size) == 0);
}

/* With a NUL behind it. */
static inline unsigned char *put_text(unsigned char *to, struct text text)
{
    if (text.size != 0)
        to = put(to, text.bytes, text.size);
    *to = '\0';
    return to + 1;
}

#endif
