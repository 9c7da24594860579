#include "writers/printable_text.h"

#include "format/utf8.h"

/* How many bytes from `at` on may stay; 0: this one may not. */
static unsigned int good_bytes(struct span text, uint64_t at, enum text_rule rule)
{
    const unsigned char byte = text.data[at];
    uint32_t code_point;
    if (byte < 0x20 || byte == 0x7f)
        return 0;
    if (byte < 0x80 || rule == TEXT_BYTES)
        return 1;
    return jd_utf8_character((struct span){text.data + at, text.size - at}, &code_point);
}

/* Where the first byte is, from `at` on, that must not be. */
static uint64_t find_bad(struct span text, uint64_t at, enum text_rule rule)
{
    while (at < text.size) {
        const unsigned int good = good_bytes(text, at, rule);
        if (good == 0)
            break;
        at += good;
    }
    return at;
}

struct span printable_text(struct span text, enum text_rule rule, struct bytes *memory)
{
    uint64_t at = find_bad(text, 0, rule);
    if (at == text.size)
        return text;
    memory->size = 0;
    bytes_copy(memory, text.data, (size_t)text.size);
    for (; at < memory->size; at = find_bad(text, at + 1, rule))
        memory->data[at] = '?';
    return (struct span){memory->data, memory->size};
}

struct span printable_name(struct span name, enum text_rule rule, struct bytes *memory)
{
    static const char nameless[] = "<anonymous>";
    if (name.size == 0)
        return (struct span){(const unsigned char *)nameless, sizeof(nameless) - 1};
    return printable_text(name, rule, memory);
}
