/*
 * A growing buffer for a section's bytes, in either byte order.
 *
 * Out of memory is noted once, in `failed`, and everything that is put after it is dropped: so what
 * writes a section needs no `if` for each field, only one at the end.
 */
#ifndef JITDUMP_WRITERS_BYTES_H
#define JITDUMP_WRITERS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    unsigned char *data;
    size_t size;
    size_t capacity;
    bool big_endian;
    bool failed;
};

/* Makes room for `more` bytes behind the last. False: out of memory, now or before. */
bool bytes_grow(struct bytes *bytes, size_t more);
void bytes_free(struct bytes *bytes);

/* Where `count` bytes can be written, to be counted by adding to `size`; NULL: no memory. */
static inline unsigned char *bytes_room(struct bytes *bytes, size_t count)
{
    if (bytes->capacity - bytes->size < count && !bytes_grow(bytes, count))
        return NULL;
    return bytes->data != NULL ? bytes->data + bytes->size : NULL;
}

/* The low `count` bytes of the value, 1 to 8. */
static inline void bytes_store(unsigned char *to, uint64_t value, unsigned count, bool big_endian)
{
    /* The first byte to store is the lowest. */
    uint64_t ordered = big_endian ? __builtin_bswap64(value << (64 - 8 * count)) : value;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    ordered = __builtin_bswap64(ordered);
#endif
    memcpy(to, &ordered, count);
}

static inline void bytes_put(struct bytes *bytes, uint64_t value, unsigned count)
{
    unsigned char *const to = bytes_room(bytes, count);
    if (to == NULL)
        return;
    bytes_store(to, value, count, bytes->big_endian);
    bytes->size += count;
}

static inline void bytes_u8(struct bytes *bytes, uint64_t value)
{
    bytes_put(bytes, value, 1);
}

static inline void bytes_u16(struct bytes *bytes, uint64_t value)
{
    bytes_put(bytes, value, 2);
}

static inline void bytes_u32(struct bytes *bytes, uint64_t value)
{
    bytes_put(bytes, value, 4);
}

static inline void bytes_copy(struct bytes *bytes, const void *from, size_t count)
{
    unsigned char *const to = bytes_room(bytes, count);
    if (to == NULL || count == 0)
        return;
    memcpy(to, from, count);
    bytes->size += count;
}

static inline void bytes_zeros(struct bytes *bytes, size_t count)
{
    unsigned char *const to = bytes_room(bytes, count);
    if (to == NULL || count == 0)
        return;
    memset(to, 0, count);
    bytes->size += count;
}

/* Zeros up to a multiple of `alignment`. */
static inline void bytes_align(struct bytes *bytes, size_t alignment)
{
    bytes_zeros(bytes, (alignment - bytes->size % alignment) % alignment);
}

enum { LEB128_MAX = 10 }; /* bytes of a number of 64 bits */

/* What has room for LEB128_MAX bytes more; returns where they end. */
static inline unsigned char *put_uleb128(unsigned char *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (unsigned char)(value | 0x80);
    *to++ = (unsigned char)value;
    return to;
}

static inline unsigned char *put_sleb128(unsigned char *to, int64_t value)
{
    for (; value < -64 || value > 63; value = value < 0 ? ~(~value >> 7) : value >> 7)
        *to++ = (unsigned char)((uint64_t)value | 0x80);
    *to++ = (unsigned char)((uint64_t)value & 0x7f);
    return to;
}

static inline void bytes_uleb128(struct bytes *bytes, uint64_t value)
{
    unsigned char *const to = bytes_room(bytes, LEB128_MAX);
    if (to != NULL)
        bytes->size = (size_t)(put_uleb128(to, value) - bytes->data);
}

static inline void bytes_sleb128(struct bytes *bytes, int64_t value)
{
    unsigned char *const to = bytes_room(bytes, LEB128_MAX);
    if (to != NULL)
        bytes->size = (size_t)(put_sleb128(to, value) - bytes->data);
}

/* Over what was put at `offset` before. */
static inline void bytes_put_at(struct bytes *bytes, size_t offset, uint64_t value, unsigned count)
{
    if (!bytes->failed)
        bytes_store(bytes->data + offset, value, count, bytes->big_endian);
}

/* Over four bytes that were put at `offset`: how many bytes are behind them. */
static inline void bytes_put_length(struct bytes *bytes, size_t offset)
{
    bytes_put_at(bytes, offset, bytes->size - offset - 4, 4);
}

#endif
