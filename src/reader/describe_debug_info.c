/*
 * JIT_CODE_DEBUG_INFO: addresses, each with a line and a file's name, in full for each.
 */
#include "reader/debug_entries.h"
#include "reader/describe.h"
#include "reader/equal_spans.h"
#include "reader/text_hash.h"

/* The files' names, each once. */
struct names {
    struct description *description;
    /* Indices of strings, DESCRIPTION_NONE: free. Used from the second name on, which few tables have. */
    uint32_t *places;
    uint32_t mask;
    uint32_t last;
};

static bool names_init(struct names *names, struct description *description, uint64_t entry_count)
{
    uint64_t size = 16;
    while (size < 2 * entry_count)
        size *= 2;
    *names = (struct names){.description = description, .last = DESCRIPTION_NONE};
    if (size > UINT32_MAX || !jd_reserve_strings(description, entry_count))
        return false;
    names->places = jd_reserve_words(description, size);
    names->mask = (uint32_t)(size - 1);
    return names->places != NULL;
}

/* The place of the name, or where it belongs. */
static uint32_t *names_find(const struct names *names, struct span name)
{
    uint32_t at = (uint32_t)text_hash(name) & names->mask;
    while (names->places[at] != DESCRIPTION_NONE &&
           !spans_are_equal(names->description->strings[names->places[at]], name))
        at = (at + 1) & names->mask;
    return &names->places[at];
}

static uint32_t names_add(struct names *names, struct span name)
{
    struct span *const strings = names->description->strings;
    uint32_t *const count = &names->description->string_count;
    /* "As before", says perf (P12). */
    if (name.size == 1 && name.data[0] == 0xff)
        return names->last;
    if (name.size == 0)
        return names->last = DESCRIPTION_NONE;
    /* Most often it is the file of the entry before. */
    if (names->last != DESCRIPTION_NONE && spans_are_equal(strings[names->last], name))
        return names->last;
    if (*count == 0) {
        strings[*count] = name;
        return names->last = (*count)++;
    }
    if (*count == 1) {
        if (spans_are_equal(strings[0], name))
            return names->last = 0;
        memset(names->places, 0xff, ((size_t)names->mask + 1) * sizeof(*names->places));
        *names_find(names, strings[0]) = 0;
    }
    uint32_t *const place = names_find(names, name);
    if (*place == DESCRIPTION_NONE) {
        strings[*count] = name;
        *place = (*count)++;
    }
    return names->last = *place;
}

/* In front of all rows, unless one is at offset 0 already. There is room: its entry is no row. */
static void prepend(struct description *description, const struct line_row *row)
{
    for (uint32_t i = 0; i < description->row_count; i++)
        if (description->rows[i].code_offset == 0)
            return;
    memmove(description->rows + 1, description->rows,
            description->row_count * sizeof(*description->rows));
    description->rows[0] = *row;
    description->row_count++;
}

enum described jd_describe_debug_info(struct describing *describing)
{
    struct description *const description = describing->description;
    const struct piece *const piece = describing->piece;
    struct debug_entries entries;
    struct debug_row entry;
    jd_debug_entries_init(&entries, describing->history, piece, describing->cursor);
    const uint64_t entry_count = entries.count;
    if (entries.cursor.error != NULL)
        return describe_wrongly(describing, entries.cursor.error_offset, entries.cursor.error);
    struct names names;
    if (!names_init(&names, description, entry_count) || !jd_reserve_rows(description, entry_count))
        return DESCRIBED_NO_MEMORY;
    /* Erlang's tables begin in front of the code: what was said last there holds at the code's first
     * byte. A table that lies in front altogether is of other code. */
    struct line_row before = {0};
    bool any_before = false, any_here = false;
    while (jd_debug_entries_next(&entries, &entry)) {
        struct line_row row = {.line = entry.line, .column = entry.column};
        row.file = names_add(&names, entry.file);
        if (row.line == 0)
            row.column = 0;
        const uint64_t code_offset = entry.address - piece->code_addr;
        row.code_offset = (uint32_t)code_offset;
        if (entry.address < piece->code_addr) {
            row.code_offset = 0;
            before = row;
            any_before = true;
            continue;
        }
        any_here |= code_offset <= piece->code_size;
        if (code_offset < piece->code_size)
            description->rows[description->row_count++] = row;
    }
    if (entries.cursor.error != NULL)
        return describe_wrongly(describing, entries.cursor.error_offset, entries.cursor.error);
    if (any_before && any_here && piece->code_size > 0)
        prepend(description, &before);
    return jd_sort_rows(description) ? DESCRIBED : DESCRIBED_NO_MEMORY;
}
