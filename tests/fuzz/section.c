#include "section.h"

#include <stdbool.h>
#include <string.h>

enum { ENTRIES_MAX = 8, ENTRY_SIZE_MAX = 120 };
_Static_assert(ENTRIES_MAX * ENTRY_SIZE_MAX <= SECTION_SIZE_MAX, "all entries fit");

enum { PC_RELATIVE = 0x10, ALIGNED = 0x50, LEB128 = 0x01 };

struct maker {
    unsigned char *bytes;
    size_t size;
    struct input *input;
    bool wide; /* lengths of 64 bits */
    /* Of the last CIE. */
    size_t cie;
    uint8_t encoding;
    bool has_personality;
};

static void number(struct maker *maker, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        maker->bytes[maker->size++] = (unsigned char)(value >> 8 * i);
}

static void word(struct maker *maker, uint64_t value)
{
    number(maker, value, maker->wide ? 8 : 4);
}

static void pointer(struct maker *maker, uint8_t encoding, uint64_t value)
{
    static const unsigned char sizes[8] = {8, 0, 2, 4, 8, 0, 0, 0};
    if ((encoding & 0x70) == PC_RELATIVE)
        value -= SECTION_ADDRESS + maker->size;
    if ((encoding & 7) != LEB128) {
        number(maker, value, sizes[encoding & 7]);
        return;
    }
    for (; value >= 0x80; value >>= 7)
        number(maker, value | 0x80, 1);
    number(maker, value, 1);
}

static void cie(struct maker *maker, uint8_t choice)
{
    static const uint8_t encodings[] = {0x1b, 0x00, 0x1c, 0x1a, 0x03, 0x0c, 0x10, 0x01};
    static const char *const augmentations[] = {"zR", "zPLR", "zRS", "zRB"};
    const uint8_t more = take_u8(maker->input);
    const char *augmentation = augmentations[more & 3];
    maker->has_personality = (more & 3) == 1;
    maker->encoding = more >= 0xf0 ? choice : encodings[choice & 7];
    word(maker, 0);
    number(maker, more >= 0xe0 ? more : 1 + (more >> 1 & 2), 1);
    memcpy(maker->bytes + maker->size, augmentation, strlen(augmentation) + 1);
    maker->size += strlen(augmentation) + 1;
    number(maker, 1 + (choice >> 3 & 3), 1); /* code alignment factor */
    number(maker, 0x78, 1);
    number(maker, choice & 31, 1);
    number(maker, maker->has_personality ? 7 : 1, 1);
    if (maker->has_personality) {
        number(maker, more >= 0xd0 ? ALIGNED : 0x9b, 1);
        number(maker, more, 4);
        number(maker, 0x1b, 1);
    }
    number(maker, maker->encoding, 1);
}

static void fde(struct maker *maker, uint8_t choice, const struct jitdump_code *code)
{
    const uint64_t distance = maker->size - maker->cie;
    word(maker, choice >= 0xf0 ? take_hostile(maker->input) : distance);
    pointer(maker, maker->encoding, code->code_addr + take_u8(maker->input) - 16);
    pointer(maker, maker->encoding & 15,
            (choice & 1) != 0 ? code->code_size : take_u8(maker->input));
    number(maker, maker->has_personality ? 4 : 0, 1);
    if (maker->has_personality)
        number(maker, 99, 4);
}

size_t make_section(unsigned char section[SECTION_SIZE_MAX], struct input *input,
                    const struct jitdump_code *code)
{
    const uint8_t bits = take_u8(input);
    struct maker maker = {.bytes = section, .input = input, .wide = (bits & 7) == 7};
    const uint8_t count = (bits >> 3) % (ENTRIES_MAX + 1);
    for (uint8_t i = 0; i < count; i++) {
        const uint8_t choice = take_u8(input);
        const size_t start = maker.size;
        if (maker.wide)
            number(&maker, UINT32_MAX, 4);
        const size_t length_at = maker.size;
        word(&maker, 0);
        const size_t body = maker.size;
        if (i == 0 || (choice & 0x70) == 0) {
            maker.cie = start;
            cie(&maker, choice);
        } else {
            fde(&maker, choice, code);
        }
        for (uint8_t left = take_u8(input) % 32; left > 0; left--)
            number(&maker, take_u8(input), 1);
        const size_t end = maker.size;
        maker.size = length_at;
        word(&maker, take_u8(input) >= 0xfc ? take_hostile(input) : end - body);
        maker.size = end;
    }
    /* With a terminator, cut off, or just so. */
    if ((bits & 0x80) == 0)
        return maker.size;
    number(&maker, 0, 4);
    return maker.size - take_u8(input) % 8 % (maker.size + 1);
}
