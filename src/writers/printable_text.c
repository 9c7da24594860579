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

/* Whether eight bytes are ASCII without control characters, as nearly all text is: in each byte, the
 * highest bit says no. */
static bool is_plain(const unsigned char *eight)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t word;
    memcpy(&word, eight, sizeof(word));
    const uint64_t below_space = (word | 0x80 * each) - 0x20 * each; /* no byte borrows of the next */
    const uint64_t delete_or_more = word + each;
    return ((~below_space | word | delete_or_more) & 0x80 * each) == 0;
}

/* Where the first byte is, from `at` on, that must not be. */
static uint64_t find_bad(struct span text, uint64_t at, enum text_rule rule)
{
    while (at < text.size) {
        if (text.size - at >= 8 && is_plain(text.data + at)) {
            at += 8;
            continue;
        }
        const unsigned int good = good_bytes(text, at, rule);
        if (good == 0)
            break;
        at += good;
    }
    return at;
}

enum { FIELD_MAX = 4096 };

/* Unicode's White_Space, and a control character that is one. */
static bool is_space(uint32_t code_point)
{
    return (code_point >= 0x09 && code_point <= 0x0d) || code_point == 0x20 || code_point == 0x85 ||
           code_point == 0xa0 || code_point == 0x1680 ||
           (code_point >= 0x2000 && code_point <= 0x200a) || code_point == 0x2028 ||
           code_point == 0x2029 || code_point == 0x202f || code_point == 0x205f ||
           code_point == 0x3000;
}

static bool is_continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* How many bytes of space the text begins with, or ends with; 0: none. */
static unsigned int space_at(struct span text)
{
    uint32_t code_point;
    const unsigned int size = jd_utf8_character(text, &code_point);
    return is_space(code_point) ? size : 0;
}

static unsigned int space_before_end(struct span text)
{
    unsigned int size = 1;
    while (size < 4 && size < text.size && is_continuation(text.data[text.size - size]))
        size++;
    return space_at((struct span){text.data + (text.size - size), size}) == size ? size : 0;
}

static struct span without_spaces(struct span text)
{
    unsigned int space;
    while (text.size > 0 && (space = space_at(text)) > 0) {
        text.data += space;
        text.size -= space;
    }
    if (text.size > FIELD_MAX) {
        text.size = FIELD_MAX;
        while (text.size > FIELD_MAX - 3 && is_continuation(text.data[text.size]))
            text.size--;
    }
    while (text.size > 0 && (space = space_before_end(text)) > 0)
        text.size -= space;
    return text;
}

struct span printable_text(struct span text, enum text_rule rule, struct bytes *memory)
{
    if (rule == TEXT_FIELD)
        text = without_spaces(text);
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
    const struct span text = printable_text(name, rule, memory);
    if (text.size == 0)
        return (struct span){(const unsigned char *)nameless, sizeof(nameless) - 1};
    return text;
}
