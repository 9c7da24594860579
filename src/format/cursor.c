#include "cursor.h"

uint64_t jd_cursor_uleb128(struct cursor *cursor, const char *error)
{
    uint64_t value = 0;
    unsigned int shift = 0;
    uint8_t byte;
    do {
        byte = cursor_u8(cursor, error);
        const uint64_t bits = byte & 0x7f;
        /* Zeros may go on for as long as they like: linkers pad so. */
        if (bits != 0 && (shift > 63 || bits << shift >> shift != bits))
            cursor_fail(cursor, error);
        else if (shift < 64)
            value |= bits << shift;
        shift += 7;
    } while ((byte & 0x80) != 0 && cursor->error == NULL);
    return cursor->error == NULL ? value : 0;
}

int64_t jd_cursor_sleb128(struct cursor *cursor, const char *error)
{
    uint64_t value = 0;
    unsigned int shift = 0;
    uint8_t byte;
    do {
        byte = cursor_u8(cursor, error);
        const uint64_t bits = byte & 0x7f;
        if (shift < 63) {
            value |= bits << shift;
        } else {
            /* The 64th bit is the sign; what is above repeats it. */
            if (shift == 63)
                value |= bits << 63;
            if (bits != (value >> 63 != 0 ? 0x7f : 0))
                cursor_fail(cursor, error);
        }
        shift += 7;
    } while ((byte & 0x80) != 0 && cursor->error == NULL);
    if (shift < 64 && (byte & 0x40) != 0)
        value |= UINT64_MAX << shift;
    return cursor->error == NULL ? (int64_t)value : 0;
}
