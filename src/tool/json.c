#include "tool/json.h"

#include <string.h>

/* How many bytes the character at `from` has; 0: it is none of UTF-8's. */
static unsigned character_size(const unsigned char *from, uint64_t left)
{
    const unsigned char first = from[0];
    const unsigned size = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3
                          : first < 0xf5 ? 4 : 0;
    if (size == 0 || size > left)
        return 0;
    for (unsigned i = 1; i < size; i++)
        if ((from[i] & 0xc0) != 0x80)
            return 0;
    /* Longer than needed, a surrogate, or behind the last character. */
    if ((first == 0xe0 && from[1] < 0xa0) || (first == 0xed && from[1] > 0x9f) ||
        (first == 0xf0 && from[1] < 0x90) || (first == 0xf4 && from[1] > 0x8f))
        return 0;
    return size;
}

void json_string(FILE *out, const void *bytes, uint64_t size)
{
    const unsigned char *from = bytes;
    fputc('"', out);
    while (size > 0) {
        unsigned taken = character_size(from, size);
        if (taken == 0) {
            fputs("\\ufffd", out);
            taken = 1;
        } else if (*from == '"' || *from == '\\') {
            fprintf(out, "\\%c", *from);
        } else if (*from < ' ' || *from == 0x7f) {
            fprintf(out, "\\u%04x", *from);
        } else {
            fwrite(from, 1, taken, out);
        }
        from += taken;
        size -= taken;
    }
    fputc('"', out);
}

void json_text(FILE *out, const char *text)
{
    json_string(out, text, strlen(text));
}
