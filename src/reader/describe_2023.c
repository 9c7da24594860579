/*
 * SAMPLY_JIT_CODE_DEBUG_INFO2, the inline record of 2023: strings, functions, the calls as a tree in
 * depth-first order, their ranges, and the innermost lines.
 *
 * Columns count from 0 there, so that 0 is the first or none at all: it becomes 0, unknown.
 */
#include "reader/describe.h"

#include "format/records.h"

static const char cut[] = "SAMPLY_JIT_CODE_DEBUG_INFO2: shorter than its lists";

struct counts {
    uint32_t files;
    uint32_t file_list_size;
    uint32_t names;
    uint32_t name_list_size;
    uint32_t functions;
    uint32_t calls;
    uint32_t ranges;
    uint32_t lines;
};

static uint32_t column_from_0(uint32_t column)
{
    return column != 0 && column != UINT32_MAX ? column + 1 : 0;
}

/* The empty string is a file that is not known. */
static uint32_t file_at(const struct description *description, uint32_t index)
{
    return description->strings[index].size > 0 ? index : DESCRIPTION_NONE;
}

static enum described read_list(struct describing *describing, uint32_t count, uint32_t size)
{
    struct cursor list = describing->cursor;
    if (cursor_take(&describing->cursor, size, cut) == NULL)
        return describe_wrongly(describing, 0, cut);
    list.end = describing->cursor.at;
    return jd_describe_strings(describing, &list, count,
                               "SAMPLY_JIT_CODE_DEBUG_INFO2: fewer strings than it says");
}

static enum described read_functions(struct describing *describing, const struct counts *counts)
{
    struct description *const description = describing->description;
    struct cursor *const cursor = &describing->cursor;
    if (!jd_reserve_functions(description, counts->functions))
        return DESCRIBED_NO_MEMORY;
    for (uint32_t i = 0; i < counts->functions; i++) {
        const uint64_t offset = cursor_offset(cursor);
        const uint32_t name = cursor_u32(cursor, cut);
        const uint32_t file = cursor_u32(cursor, cut);
        const uint32_t start_line = cursor_u32(cursor, cut);
        const uint32_t start_column = cursor_u32(cursor, cut);
        cursor_u32(cursor, cut); /* flags */
        if (name >= counts->names || file >= counts->files)
            return describe_wrongly(describing, offset,
                                    "SAMPLY_JIT_CODE_DEBUG_INFO2: a function whose name or file is "
                                    "not in the lists");
        description->functions[description->function_count++] = (struct described_function){
            counts->files + name, file_at(description, file), start_line,
            column_from_0(start_column)};
    }
    return DESCRIBED;
}

static enum described read_calls(struct describing *describing, const struct counts *counts)
{
    struct description *const description = describing->description;
    struct cursor *const cursor = &describing->cursor;
    /* The calls that are open, by depth. */
    uint32_t *const open = jd_reserve_words(description, counts->calls);
    if (open == NULL || !jd_reserve_calls(description, counts->calls))
        return DESCRIBED_NO_MEMORY;
    uint32_t depth = 0;
    uint32_t ranges = 0;
    for (uint32_t i = 0; i < counts->calls; i++) {
        const uint64_t offset = cursor_offset(cursor);
        struct inlined_call call = {.first_range = ranges};
        call.depth = cursor_u32(cursor, cut);
        call.range_count = cursor_u32(cursor, cut);
        call.function = cursor_u32(cursor, cut);
        call.call_line = cursor_u32(cursor, cut);
        call.call_column = column_from_0(cursor_u32(cursor, cut));
        if (call.depth > depth || call.function >= counts->functions || call.range_count == 0 ||
            call.range_count > counts->ranges - ranges)
            return describe_wrongly(describing, offset,
                                    "SAMPLY_JIT_CODE_DEBUG_INFO2: a call whose depth, function or "
                                    "number of ranges can't be");
        call.parent = call.depth > 0 ? open[call.depth - 1] : DESCRIPTION_NONE;
        const uint32_t caller =
            call.depth > 0 ? description->calls[call.parent].function : 0;
        call.call_file = description->functions[caller].file;
        ranges += call.range_count;
        depth = call.depth + 1;
        open[call.depth] = i;
        description->calls[description->call_count++] = call;
    }
    return DESCRIBED;
}

static enum described read_ranges(struct describing *describing, const struct counts *counts)
{
    struct description *const description = describing->description;
    struct cursor *const cursor = &describing->cursor;
    const uint64_t code_size = describing->piece->code_size;
    if (!jd_reserve_ranges(description, counts->ranges))
        return DESCRIBED_NO_MEMORY;
    for (uint32_t i = 0; i < counts->ranges; i++) {
        const uint64_t offset = cursor_offset(cursor);
        const uint32_t begin = cursor_u32(cursor, cut);
        const uint32_t size = cursor_u32(cursor, cut);
        if (begin >= code_size || size > code_size - begin || size == 0)
            return describe_wrongly(describing, offset,
                                    "SAMPLY_JIT_CODE_DEBUG_INFO2: a range that is empty or leaves the "
                                    "code");
        description->ranges[description->range_count++] = (struct code_range){begin, begin + size};
    }
    return jd_describe_ranges(describing);
}

static enum described read_lines(struct describing *describing, const struct counts *counts)
{
    struct description *const description = describing->description;
    struct cursor *const cursor = &describing->cursor;
    if (!jd_reserve_rows(description, counts->lines))
        return DESCRIBED_NO_MEMORY;
    for (uint32_t i = 0; i < counts->lines; i++) {
        const uint64_t offset = cursor_offset(cursor);
        struct line_row row;
        row.code_offset = cursor_u32(cursor, cut);
        row.file = cursor_u32(cursor, cut);
        row.line = cursor_u32(cursor, cut);
        row.column = column_from_0(cursor_u32(cursor, cut));
        if (row.file >= counts->files)
            return describe_wrongly(describing, offset,
                                    "SAMPLY_JIT_CODE_DEBUG_INFO2: a line whose file is not in the list");
        row.file = file_at(description, row.file);
        if (row.line == 0)
            row.column = 0;
        if (row.code_offset < describing->piece->code_size)
            description->rows[description->row_count++] = row;
    }
    return jd_sort_rows(description) ? DESCRIBED : DESCRIBED_NO_MEMORY;
}

enum described jd_describe_2023(struct describing *describing)
{
    struct cursor *const cursor = &describing->cursor;
    struct counts counts;
    counts.files = cursor_u32(cursor, cut);
    counts.file_list_size = cursor_u32(cursor, cut);
    counts.names = cursor_u32(cursor, cut);
    counts.name_list_size = cursor_u32(cursor, cut);
    counts.functions = cursor_u32(cursor, cut);
    counts.calls = cursor_u32(cursor, cut);
    counts.ranges = cursor_u32(cursor, cut);
    counts.lines = cursor_u32(cursor, cut);
    /* What has been counted is there: so much memory is taken and no more. */
    const uint64_t needed = (uint64_t)counts.file_list_size + counts.name_list_size +
                            (uint64_t)counts.functions * sizeof(struct samply_function_record) +
                            (uint64_t)counts.calls * sizeof(struct samply_inline_call_record) +
                            (uint64_t)counts.ranges * sizeof(struct samply_range_record) +
                            (uint64_t)counts.lines * sizeof(struct samply_line_record);
    if (needed > cursor_left(cursor))
        return describe_wrongly(describing, describing->record, cut);

    enum described described = read_list(describing, counts.files, counts.file_list_size);
    if (described == DESCRIBED)
        described = read_list(describing, counts.names, counts.name_list_size);
    if (described == DESCRIBED)
        described = read_functions(describing, &counts);
    if (described == DESCRIBED)
        described = read_calls(describing, &counts);
    if (described == DESCRIBED)
        described = read_ranges(describing, &counts);
    if (described == DESCRIBED)
        described = read_lines(describing, &counts);
    return described;
}
