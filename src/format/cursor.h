/*
 * Reads bytes that nobody vouches for: bounds-checked, at any alignment, in either byte order.
 *
 * A read past the end is no error at the place where it happens. It yields zeros, moves the cursor to
 * its end, and is noted once, with what was being read and where. So whoever reads a structure
 * asks once, behind the last field, whether all of it was there.
 */
#ifndef JITDUMP_FORMAT_CURSOR_H
#define JITDUMP_FORMAT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma GCC visibility push(hidden)

/* Bytes that belong to somebody else, a file's mapping for the most part. Not terminated. */
struct span {
    const unsigned char *data;
    uint64_t size;
};

struct cursor {
    const unsigned char *at;
    const unsigned char *end;
    /* What offsets in messages count from: the file's first byte. */
    const unsigned char *base;
    /* The bytes are in the other order than this machine's. */
    bool swapped;
    /* The first thing that was wrong, NULL as long as nothing is, and where it is. A static text. */
    const char *error;
    uint64_t error_offset;
};

static inline uint64_t cursor_left(const struct cursor *cursor)
{
    return (uint64_t)(cursor->end - cursor->at);
}

/* Where the cursor stands, in bytes from `base`. */
static inline uint64_t cursor_offset(const struct cursor *cursor)
{
    return (uint64_t)(cursor->at - cursor->base);
}

/* Notes `error` as found at `offset`, unless something is noted already, and ends the reading. */
static inline void cursor_fail_at(struct cursor *cursor, uint64_t offset, const char *error)
{
    if (cursor->error == NULL) {
        cursor->error = error;
        cursor->error_offset = offset;
    }
    cursor->at = cursor->end;
}

static inline void cursor_fail(struct cursor *cursor, const char *error)
{
    cursor_fail_at(cursor, cursor_offset(cursor), error);
}

/* Steps over `size` bytes and returns the first. If fewer are left, `error` is noted, and NULL comes
 * back. */
static inline const unsigned char *cursor_take(struct cursor *cursor, uint64_t size,
                                               const char *error)
{
    if (size > cursor_left(cursor)) {
        cursor_fail(cursor, error);
        return NULL;
    }
    const unsigned char *const taken = cursor->at;
    cursor->at += size;
    return taken;
}

static inline uint8_t cursor_u8(struct cursor *cursor, const char *error)
{
    const unsigned char *const from = cursor_take(cursor, 1, error);
    return from != NULL ? *from : 0;
}

static inline uint16_t cursor_u16(struct cursor *cursor, const char *error)
{
    uint16_t value = 0;
    const unsigned char *const from = cursor_take(cursor, sizeof(value), error);
    if (from != NULL)
        memcpy(&value, from, sizeof(value));
    return cursor->swapped ? __builtin_bswap16(value) : value;
}

static inline uint32_t cursor_u32(struct cursor *cursor, const char *error)
{
    uint32_t value = 0;
    const unsigned char *const from = cursor_take(cursor, sizeof(value), error);
    if (from != NULL)
        memcpy(&value, from, sizeof(value));
    return cursor->swapped ? __builtin_bswap32(value) : value;
}

static inline uint64_t cursor_u64(struct cursor *cursor, const char *error)
{
    uint64_t value = 0;
    const unsigned char *const from = cursor_take(cursor, sizeof(value), error);
    if (from != NULL)
        memcpy(&value, from, sizeof(value));
    return cursor->swapped ? __builtin_bswap64(value) : value;
}

/* A NUL-terminated string, without its NUL. Where there is no NUL, `error` is noted, and the span
 * is empty, its data NULL. */
static inline struct span cursor_string(struct cursor *cursor, const char *error)
{
    const uint64_t left = cursor_left(cursor);
    const unsigned char *const nul = left > 0 ? memchr(cursor->at, 0, (size_t)left) : NULL;
    if (nul == NULL) {
        cursor_fail(cursor, error);
        return (struct span){0};
    }
    const struct span string = {cursor->at, (uint64_t)(nul - cursor->at)};
    cursor->at = nul + 1;
    return string;
}

/* DWARF's variable-length integers. Bits beyond the 64th are an error. */
uint64_t jd_cursor_uleb128(struct cursor *cursor, const char *error);
int64_t jd_cursor_sleb128(struct cursor *cursor, const char *error);

#pragma GCC visibility pop

#endif
