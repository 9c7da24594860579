/*
 * What the readers want beyond the format's text, each tried on llvm-gsymutil:
 *
 * - A row at the function's first byte, and a file in each row: else the whole lookup fails, and not
 *   even the name is told.
 * - A file where an inlined call is made: else that frame is dropped.
 * - Lines wherever there are inlined calls: these are looked for only if there is a row.
 * - Not too deep a tree: it goes down that by recursion, and crashes somewhere behind 20 000 levels.
 */
#include "writers/gsym_function.h"

#include "writers/plain_lines.h"

enum {
    END_OF_LIST = 0,
    LINE_TABLE_INFO = 1,
    INLINE_INFO = 2,

    END_SEQUENCE = 0,
    SET_FILE = 1,
    ADVANCE_PC = 2,
    ADVANCE_LINE = 3,
    FIRST_SPECIAL = 4,
    OPCODE_MAX = 255,

    /* How many line differences special opcodes have at most: the fewer, the more bytes of code
     * each can pass. */
    WINDOW_MAX = 15,

    /* Calls inlined deeper than this are left out: their code is then that of the one around. */
    DEPTH_MAX = 10000
};

void gsym_functions_init(struct gsym_functions *functions, unsigned string_size, bool big_endian)
{
    *functions = (struct gsym_functions){.string_size = string_size,
                                         .bytes = {.big_endian = big_endian}};
    described_texts_init(&functions->texts, TEXT_UTF8, "<unknown>");
}

void gsym_functions_free(struct gsym_functions *functions)
{
    bytes_free(&functions->bytes);
    described_texts_free(&functions->texts);
}

static void put_string(struct gsym_functions *functions, struct table_string string)
{
    bytes_put(&functions->bytes, string.offset, functions->string_size);
}

/* Returns where the length is, for end_item(). */
static size_t begin_item(struct bytes *to, uint32_t type)
{
    bytes_u32(to, type);
    bytes_u32(to, 0);
    return to->size - 4;
}

/* Lines */

/* The differences of lines that special opcodes have: a window around 0. */
struct line_window {
    int64_t lowest;
    int64_t highest;
};

/* The window that most differences are in; `counts` has those from 1 - WINDOW_MAX on. */
static struct line_window best_window(const uint32_t counts[2 * WINDOW_MAX - 1])
{
    uint64_t most = 0;
    int best = 0;
    for (int first = 0; first < WINDOW_MAX; first++) {
        uint64_t sum = 0;
        for (int i = 0; i < WINDOW_MAX; i++)
            sum += counts[first + i];
        if (sum > most) {
            most = sum;
            best = first;
        }
    }
    return (struct line_window){best + 1 - WINDOW_MAX, best};
}

static struct line_window find_window(const struct description *description, uint32_t size)
{
    uint32_t counts[2 * WINDOW_MAX - 1] = {0};
    struct line_window window = {0, 0};
    struct plain_lines lines;
    struct plain_line line = {.line = 0};
    plain_lines_begin(&lines, description, size);
    plain_lines_next(&lines, &line);
    for (int64_t last = line.line; plain_lines_next(&lines, &line); last = line.line) {
        const int64_t delta = line.line - last;
        if (delta <= -WINDOW_MAX || delta >= WINDOW_MAX)
            continue;
        counts[delta + WINDOW_MAX - 1]++;
        if (delta < window.lowest)
            window.lowest = delta;
        if (delta > window.highest)
            window.highest = delta;
    }
    return window.highest - window.lowest < WINDOW_MAX ? window : best_window(counts);
}

/* A row, so many lines and bytes on. */
static void put_row(struct bytes *to, const struct line_window *window, int64_t lines, uint32_t by)
{
    const uint64_t range = (uint64_t)(window->highest - window->lowest) + 1;
    const bool is_usual = lines >= window->lowest && lines <= window->highest;
    const uint64_t special =
        FIRST_SPECIAL + (uint64_t)((is_usual ? lines : 0) - window->lowest) + by * range;
    if (lines != 0 && (!is_usual || special > OPCODE_MAX)) {
        bytes_u8(to, ADVANCE_LINE);
        bytes_sleb128(to, lines);
    }
    if (special <= OPCODE_MAX) {
        bytes_u8(to, special);
    } else {
        bytes_u8(to, ADVANCE_PC);
        bytes_uleb128(to, by);
    }
}

static void put_line_table(struct gsym_functions *functions, uint32_t size,
                           const struct description *description)
{
    struct bytes *const to = &functions->bytes;
    struct plain_lines lines;
    struct plain_line line = {.line = 0};
    plain_lines_begin(&lines, description, size);
    plain_lines_next(&lines, &line);
    const bool has_lines = line.line != 0 || line.end < size;
    functions->described += has_lines;
    if (!has_lines && description->call_count == 0)
        return;

    const struct line_window window = find_window(description, size);
    const size_t item = begin_item(to, LINE_TABLE_INFO);
    bytes_sleb128(to, window.lowest);
    bytes_sleb128(to, window.highest);
    bytes_uleb128(to, line.line);
    uint32_t last_file = 1, last_begin = 0;
    int64_t last_line = line.line;
    do {
        const uint32_t file = described_file(&functions->texts, description, line.file);
        if (file != last_file) {
            bytes_u8(to, SET_FILE);
            bytes_uleb128(to, file);
        }
        put_row(to, &window, line.line - last_line, line.begin - last_begin);
        last_file = file;
        last_line = line.line;
        last_begin = line.begin;
    } while (plain_lines_next(&lines, &line));
    bytes_u8(to, END_SEQUENCE);
    bytes_put_length(to, item);
}

/* Inlined calls: {ranges, u8 has_children, string name, uleb128 call_file, uleb128 call_line}, and
 * then its children if it has any, closed by a byte 0. */

/* Offsets count from `base`, where the first range of what is around begins. */
static void put_ranges(struct bytes *to, const struct code_range *ranges, uint32_t count,
                       uint32_t base)
{
    bytes_uleb128(to, count);
    for (uint32_t i = 0; i < count; i++) {
        bytes_uleb128(to, ranges[i].begin - base);
        bytes_uleb128(to, ranges[i].end - ranges[i].begin);
    }
}

static uint32_t first_begin(const struct description *description, uint32_t call)
{
    return call == DESCRIPTION_NONE
               ? 0
               : description->ranges[description->calls[call].first_range].begin;
}

static void put_call(struct gsym_functions *functions, const struct description *description,
                     const struct inlined_call *call, bool has_children)
{
    struct bytes *const to = &functions->bytes;
    put_ranges(to, &description->ranges[call->first_range], call->range_count,
               first_begin(description, call->parent));
    bytes_u8(to, has_children);
    put_string(functions, described_name(&functions->texts, description,
                                         description->functions[call->function].name));
    bytes_uleb128(to, described_file(&functions->texts, description, call->call_file));
    bytes_uleb128(to, call->call_line);
}

static void put_inline_info(struct gsym_functions *functions, struct table_string name,
                            uint32_t size, const struct description *description)
{
    struct bytes *const to = &functions->bytes;
    if (description->call_count == 0)
        return;
    const size_t item = begin_item(to, INLINE_INFO);
    put_ranges(to, &(const struct code_range){0, size}, 1, 0);
    bytes_u8(to, true);
    put_string(functions, name);
    bytes_u16(to, 0); /* it is called from no file, at no line */
    for (uint32_t i = 0, next; i < description->call_count; i = next) {
        const struct inlined_call *const call = &description->calls[i];
        next = i + 1;
        while (next < description->call_count && description->calls[next].depth >= DEPTH_MAX)
            next++;
        const bool is_last = next == description->call_count;
        /* Of the next one; 0 and then one more ends the function's own list. */
        const uint32_t depth = is_last ? 0 : description->calls[next].depth;
        put_call(functions, description, call, !is_last && depth > call->depth);
        if (is_last || depth < call->depth)
            bytes_zeros(to, (size_t)call->depth - depth + is_last);
    }
    bytes_put_length(to, item);
}

size_t gsym_functions_add(struct gsym_functions *functions, struct span name, uint32_t size,
                          const struct description *description)
{
    struct bytes *const to = &functions->bytes;
    bytes_align(to, 4);
    const size_t start = to->size;
    if (!described_texts_begin(&functions->texts, description))
        return start;
    const struct table_string own_name = described_own_name(&functions->texts, name);
    bytes_u32(to, size);
    put_string(functions, own_name);
    put_line_table(functions, size, description);
    put_inline_info(functions, own_name, size, description);
    begin_item(to, END_OF_LIST);
    return start;
}
