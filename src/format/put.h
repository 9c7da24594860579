/*
 * Writes bytes, at any alignment.
 */
#ifndef JITDUMP_FORMAT_PUT_H
#define JITDUMP_FORMAT_PUT_H

#include <stddef.h>
#include <string.h>

/* The bytes at `from` go to `to`, which need not be aligned. Returns what is behind. */
static inline unsigned char *put(unsigned char *to, const void *from, size_t size)
{
    memcpy(to, from, size);
    return to + size;
}

#endif
