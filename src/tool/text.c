#include "tool/text.h"

#include "format/utf8.h"

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
    uint32_t code_point;
    const unsigned int size = jd_utf8_character(text, &code_point);
    if (size == 0)
        return (struct character){.code_point = text.data[0], .size = 1, .stray = true};
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
