#include "tool/text.h"

static bool is_printable(uint32_t code_point)
{
    return code_point >= 0x20 && !(code_point >= 0x7f && code_point < 0xa0) && /* C0, DEL, C1 */
           code_point != 0x200e && code_point != 0x200f && code_point != 0x61c &&
           !(code_point >= 0x2028 && code_point <= 0x202e) && /* separators, embeddings */
           !(code_point >= 0x2066 && code_point <= 0x2069) && /* isolates */
           code_point != 0xfeff;
}

struct character next_character(struct span text)
{
    const unsigned char first = text.data[0];
    const struct character stray = {.code_point = first, .size = 1, .stray = true};
    if (first < 0x80)
        return (struct character){first, 1, false, is_printable(first)};
    const unsigned int size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size < size)
        return stray;
    uint32_t code_point = first & (0x7fu >> size);
    for (unsigned int i = 1; i < size; i++) {
        if ((text.data[i] & 0xc0) != 0x80)
            return stray;
        code_point = code_point << 6 | (text.data[i] & 0x3f);
    }
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code_point < smallest[size] || code_point > 0x10ffff ||
        (code_point >= 0xd800 && code_point < 0xe000))
        return stray;
    return (struct character){code_point, size, false, is_printable(code_point)};
}

void print_text(FILE *to, struct span text)
{
    while (text.size > 0) {
        const struct character character = next_character(text);
        if (character.printable)
            fwrite(text.data, 1, character.size, to);
        else if (character.code_point == '\n')
            fputs("\\n", to);
        else if (character.code_point == '\t')
            fputs("\\t", to);
        else
            fprintf(to, character.size == 1 ? "\\x%02x" : "\\u{%x}", character.code_point);
        text.data += character.size;
        text.size -= character.size;
    }
}

void print_string(FILE *to, const char *text)
{
    print_text(to, (struct span){(const unsigned char *)text, strlen(text)});
}
