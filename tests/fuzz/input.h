/*
 * A fuzzer's bytes, taken one after the other as what is needed. Behind their end all is zero.
 */
#ifndef JITDUMP_TESTS_INPUT_H
#define JITDUMP_TESTS_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct input {
    const uint8_t *bytes;
    size_t left;
};

static inline uint8_t take_u8(struct input *input)
{
    if (input->left == 0)
        return 0;
    input->left--;
    return *input->bytes++;
}

static inline uint32_t take_u16(struct input *input)
{
    const uint32_t low = take_u8(input);
    return low | (uint32_t)take_u8(input) << 8;
}

/* A number near a limit of something, or a small one. */
static inline uint64_t take_hostile(struct input *input)
{
    static const uint64_t limits[] = {
        0, 0x7f, 0xff, 0x400, 0x1000, 0x10000, 0x40000,
        UINT64_C(0x7fffffff), UINT64_C(0xffffffff), UINT64_C(0x100000000),
        UINT64_C(3600000000000), UINT64_C(0x7fffffffffffffff), UINT64_MAX, 16 << 20,
    };
    const uint8_t limit = take_u8(input);
    const uint8_t distance = take_u8(input);
    return limits[limit % (sizeof(limits) / sizeof(limits[0]))] + distance - 32 * (limit >> 6);
}

#endif
