#include "reader/debug_entries.h"

#include "format/records.h"

static const char cut[] = "JIT_CODE_DEBUG_INFO: shorter than its entries";

enum {
    /* Some emitters pad the record to a multiple of this. */
    PADDING_LIMIT = 8,
    /* How many bytes at the start of a freed name the allocator overwrites. */
    LOST_SIZE = 16
};

static bool is_v8(const struct piece *piece)
{
    return piece->name.size > 3 && memcmp(piece->name.data, "JS:", 3) == 0;
}

static uint64_t peek_u64(const struct cursor *cursor, const unsigned char *at)
{
    struct cursor there = *cursor;
    there.at = at;
    return cursor_u64(&there, cut);
}

/* Whether an entry can begin here: with an address in the code. */
static bool is_entry(const struct debug_entries *entries, const unsigned char *at)
{
    const struct piece *const piece = entries->piece;
    if (entries->cursor.end - at < (ptrdiff_t)sizeof(struct debug_entry))
        return false;
    const uint64_t address = peek_u64(&entries->cursor, at) - entries->bias;
    return address >= piece->code_addr && address - piece->code_addr <= piece->code_size;
}

/* A name with any bytes in it: up to the NUL in front of the next entry, or of the record's padding. */
static struct span lost_name(struct debug_entries *entries)
{
    struct cursor *const cursor = &entries->cursor;
    const unsigned char *const begin = cursor->at;
    const unsigned char *end = cursor->end;
    if (entries->next == entries->count) {
        while (end > begin && end[-1] == 0)
            end--;
        if (end == cursor->end || cursor->end - end > PADDING_LIMIT)
            cursor_fail(cursor, cut);
        cursor->at = cursor->end;
        return (struct span){begin, (uint64_t)(end - begin)};
    }
    for (end = begin; cursor->end - end > 1; end++) {
        if (*end == 0 && is_entry(entries, end + 1)) {
            cursor->at = end + 1;
            return (struct span){begin, (uint64_t)(end - begin)};
        }
    }
    cursor_fail(cursor, cut);
    return (struct span){0};
}

/* "JS:*name path:1:13": where the path ends. */
static uint64_t path_end(struct span name)
{
    uint64_t end = name.size;
    for (int number = 0; number < 2; number++) {
        uint64_t at = end;
        while (at > 0 && name.data[at - 1] >= '0' && name.data[at - 1] <= '9')
            at--;
        if (at == end || at == 0 || name.data[at - 1] != ':')
            return 0;
        end = at - 1;
    }
    return end;
}

/* The script's path in the function's name, if what is left of `file` is that path's; else as it is, or
 * empty, if there are NULs in it. Both the function's name and the path may have spaces. */
static struct span whole_name(const struct debug_entries *entries, struct span file)
{
    const struct span name = entries->piece->name;
    const uint64_t end = path_end(name);
    if (file.size > LOST_SIZE && end > file.size && name.data[end - file.size - 1] == ' ') {
        const unsigned char *const path = name.data + end - file.size;
        if (memcmp(path + LOST_SIZE, file.data + LOST_SIZE, (size_t)(file.size - LOST_SIZE)) == 0)
            return (struct span){path, file.size};
    }
    const bool is_string = file.size == 0 || memchr(file.data, 0, (size_t)file.size) == NULL;
    return is_string ? file : (struct span){0};
}

/* Most entries have the name of the one before: then it is the same span, too. */
static struct span plain_name(struct debug_entries *entries)
{
    struct cursor *const cursor = &entries->cursor;
    const struct span last = entries->last;
    if (last.size != 0 && last.size < cursor_left(cursor) &&
        memcmp(cursor->at, last.data, (size_t)last.size + 1) == 0)
        cursor->at += last.size + 1;
    else
        entries->last = cursor_string(cursor, cut);
    return entries->last;
}

static bool is_at_end(const struct debug_entries *entries)
{
    return entries->next == entries->count || entries->cursor.error != NULL;
}

bool jd_debug_entries_next(struct debug_entries *entries, struct debug_row *row)
{
    struct cursor *const cursor = &entries->cursor;
    if (is_at_end(entries))
        return false;
    entries->next++;
    row->address = cursor_u64(cursor, cut) - entries->bias;
    row->line = cursor_u32(cursor, cut);
    row->column = cursor_u32(cursor, cut);
    row->file = entries->names_are_lost ? lost_name(entries) : plain_name(entries);
    if (entries->next == entries->count && cursor_left(cursor) >= PADDING_LIMIT)
        cursor_fail(cursor, "JIT_CODE_DEBUG_INFO: the entries end before the record does");
    if (cursor->error != NULL)
        return false;
    if (is_v8(entries->piece))
        row->file = whole_name(entries, row->file);
    return true;
}

/* Whether the entries can be read so. */
static bool can_be_read(struct debug_entries entries)
{
    struct debug_row row;
    while (jd_debug_entries_next(&entries, &row))
        continue;
    return entries.cursor.error == NULL;
}

void jd_debug_entries_init(struct debug_entries *entries, const struct history *history,
                           const struct piece *piece, struct cursor cursor)
{
    *entries = (struct debug_entries){
        .cursor = cursor, .piece = piece, .bias = history->line_bias};
    const uint64_t record = cursor_offset(&cursor) - sizeof(struct jit_record_header);
    entries->code_addr = cursor_u64(&entries->cursor, cut);
    entries->count = cursor_u64(&entries->cursor, cut);
    if (entries->count > cursor_left(&entries->cursor) / (sizeof(struct debug_entry) + 1))
        cursor_fail_at(&entries->cursor, record, cut);
    if (!is_v8(piece) || entries->cursor.error != NULL || can_be_read(*entries))
        return;
    entries->names_are_lost = true;
    entries->names_are_lost = can_be_read(*entries);
}
