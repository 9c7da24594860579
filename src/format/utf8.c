#include "format/utf8.h"

unsigned int jd_utf8_character(struct span text, uint32_t *code_point)
{
    const unsigned char first = text.data[0];
    *code_point = first;
    if (first < 0x80)
        return 1;
    const unsigned int size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size < size)
        return 0;
    uint32_t value = first & (0x7fu >> size);
    for (unsigned int i = 1; i < size; i++) {
        if ((text.data[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (text.data[i] & 0x3f);
    }
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < smallest[size] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return 0;
    *code_point = value;
    return size;
}
