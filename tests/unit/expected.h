/*
 * The bytes that are expected of an encoder, put together field by field from the format's
 * description, without the library's structures.
 */
#ifndef EXPECTED_H
#define EXPECTED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct expected {
    unsigned char bytes[1024];
    size_t size;
};

static inline void bytes(struct expected *expected, const void *from, size_t size)
{
    memcpy(expected->bytes + expected->size, from, size);
    expected->size += size;
}

static inline void u32(struct expected *expected, uint32_t value)
{
    bytes(expected, &value, sizeof(value));
}

static inline void u64(struct expected *expected, uint64_t value)
{
    bytes(expected, &value, sizeof(value));
}

#endif
