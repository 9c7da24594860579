/* The dialects' inline records against the track: the whole chain at each of its offsets. */
#include "records.h"

#include <string.h>

#include "format/records.h"

static void expect_same(const char *what, const char *is, const char *should)
{
    if (strcmp(is, should) != 0)
        wrong(what, 0, 1);
}

static const struct jitdump_function *function_of(const struct jitdump_track *track,
                                                  uint32_t position)
{
    return &track->functions[track->positions[position].function];
}

static const struct jitdump_function *outer_function(const struct jitdump_track *track)
{
    for (uint32_t i = 0;; i++)
        if (track->positions[i].caller == JITDUMP_NONE)
            return function_of(track, i);
}

static bool has_file(const struct jitdump_function *function)
{
    return function->file != NULL && function->file[0] != '\0';
}

/* An element of a list that may lie at any address. */
#define ELEMENT(type, list, index)                                                                 \
    (*(type *)memcpy(&(type){0}, (const char *)(list) + (index) * sizeof(type), sizeof(type)))

/* The form of 2026 */

struct record_2026 {
    const struct file_facts *file;
    uint64_t offset_count;
    uint64_t position_count;
    uint64_t string_count;
    const void *offsets;
    const void *positions;
    struct reader strings;
};

static const char *string_2026(const struct record_2026 *record, uint64_t index)
{
    if (index >= record->string_count)
        wrong("index of a string", index, record->string_count);
    struct reader strings = record->strings;
    const char *string = read_string(&strings);
    while (index-- > 0)
        string = read_string(&strings);
    return string;
}

static void check_frame_2026(const struct record_2026 *record,
                             const struct samply_source_position *is,
                             const struct jitdump_function *function, struct place place)
{
    expect_same("function", string_2026(record, is->function_name), function->name);
    expect("a file", is->file != -1, has_file(function));
    if (has_file(function))
        expect_file(record->file, string_2026(record, (uint32_t)is->file), function->file);
    expect("its first line", is->function_start_line, function->start_line);
    expect("its first column", is->function_start_column, function->start_column);
    expect("line", is->line, place.line);
    expect("column", is->column, place.column);
}

static void check_chain_2026(const struct record_2026 *record, uint32_t number,
                             const struct jitdump_track *track, uint32_t position)
{
    const bool somewhere = position != JITDUMP_NONE;
    do {
        if (number >= record->position_count)
            wrong("index of a position", number, record->position_count);
        const struct samply_source_position is =
            ELEMENT(struct samply_source_position, record->positions, number);
        check_frame_2026(record, &is, somewhere ? function_of(track, position)
                                                : outer_function(track),
                         place_of(track, position));
        if (is.caller != -1 && (uint32_t)is.caller >= number)
            wrong("a caller behind its position", (uint32_t)is.caller, number);
        number = (uint32_t)is.caller;
        position = somewhere ? track->positions[position].caller : JITDUMP_NONE;
    } while (position != JITDUMP_NONE);
    expect("the end of the chain", number, JITDUMP_NONE);
}

void check_inline_2026(struct reader payload, const struct file_facts *file,
                       const struct jitdump_track *track, const struct jitdump_code *code)
{
    uint64_t fields[4];
    memcpy(fields, read_bytes(&payload, sizeof(fields)), sizeof(fields));
    expect("2026 code_addr", fields[0], code->code_addr);
    struct record_2026 record = {file, fields[1], fields[2], fields[3], NULL, NULL, {NULL, 0}};
    record.offsets = read_bytes(&payload, record.offset_count * sizeof(struct samply_code_offset));
    record.positions =
        read_bytes(&payload, record.position_count * sizeof(struct samply_source_position));
    record.strings = payload;
    for (uint64_t i = 0; i < record.string_count; i++)
        read_string(&payload);
    expect("bytes left in the record of 2026", payload.left, 0);

    uint64_t next = 0;
    uint32_t number = JITDUMP_NONE; /* nothing is said of the code in front */
    for (uint64_t i = 0; i < track->offset_count; i++) {
        const uint32_t code_offset = track->offsets[i].code_offset;
        if (code_offset >= code->code_size)
            break; /* and so are all that follow */
        while (next < record.offset_count) {
            const struct samply_code_offset offset =
                ELEMENT(struct samply_code_offset, record.offsets, next);
            if (offset.code_offset > code_offset)
                break;
            if (next != 0 &&
                offset.code_offset <=
                    ELEMENT(struct samply_code_offset, record.offsets, next - 1).code_offset)
                wrong("offset not ascending", offset.code_offset, 0);
            number = offset.source_position;
            next++;
        }
        const uint32_t position = position_at(track, code_offset);
        if (number == JITDUMP_NONE)
            expect("no position", position, JITDUMP_NONE);
        else
            check_chain_2026(&record, number, track, position);
    }
    expect("offsets read", next, record.offset_count);
}

/* The form of 2023 */

struct record_2023 {
    const struct file_facts *file;
    struct samply_jit_code_debug_info2 head;
    struct reader files, names;
    const void *functions, *calls, *ranges, *lines;
};

/* Its columns count from 0. */
static uint32_t from_zero(uint32_t column)
{
    return column != 0 ? column - 1 : 0;
}

static struct reader read_strings(struct reader *payload, uint32_t count, uint32_t size)
{
    expect("size of a list of strings, modulo 4", size % 4, 0);
    const struct reader strings = {read_bytes(payload, size), size};
    struct reader rest = strings;
    for (uint32_t i = 0; i < count; i++)
        read_string(&rest);
    if (rest.left > 3)
        wrong("padding of strings", rest.left, 3);
    return strings;
}

static const char *string_at(struct reader strings, uint32_t index, uint32_t count)
{
    if (index >= count)
        wrong("index of a string", index, count);
    const char *string = read_string(&strings);
    while (index-- > 0)
        string = read_string(&strings);
    return string;
}

static void check_function_2023(const struct record_2023 *record, uint32_t index,
                                const struct jitdump_function *function)
{
    if (index >= record->head.function_count)
        wrong("index of a function", index, record->head.function_count);
    const struct samply_function_record is =
        ELEMENT(struct samply_function_record, record->functions, index);
    expect_same("function",
                string_at(record->names, is.function_name_index,
                          record->head.function_names_count),
                function->name);
    expect_file(record->file, string_at(record->files, is.file_index, record->head.file_count),
                has_file(function) ? function->file : "");
    expect("its first line", is.start_line, function->start_line);
    expect("its first column", is.start_column, from_zero(function->start_column));
    expect("its flags", is.flags, function->flags);
}

/* Whether the call with the ranges from `first` on holds at the offset. */
static bool holds_at(const struct record_2023 *record, uint32_t first, uint32_t count,
                     uint32_t code_offset)
{
    for (uint32_t i = first; i < first + count; i++) {
        const struct samply_range_record range =
            ELEMENT(struct samply_range_record, record->ranges, i);
        if (range.start_offset <= code_offset && code_offset - range.start_offset < range.size)
            return true;
    }
    return false;
}

/* The chain from its outermost position on; a chain is no longer than this. */
struct chain {
    uint32_t length;
    uint32_t positions[JITDUMP_INLINE_DEPTH_MAX + 1];
};

static void make_chain(struct chain *chain, const struct jitdump_track *track, uint32_t position)
{
    chain->length = 0;
    for (uint32_t i = position; i != JITDUMP_NONE; i = track->positions[i].caller)
        chain->length++;
    for (uint32_t i = chain->length; i-- > 0; position = track->positions[position].caller)
        chain->positions[i] = position;
}

/* A call's line is of the caller's file, which is that of the outer function's first part. */
static struct place call_place(const struct jitdump_track *track, uint32_t caller)
{
    const struct jitdump_function *function = function_of(track, caller);
    const struct jitdump_function *outer = outer_function(track);
    if (track->positions[caller].caller == JITDUMP_NONE &&
        strcmp(has_file(function) ? function->file : "", has_file(outer) ? outer->file : "") != 0)
        return (struct place){0, 0, NULL};
    return place_of(track, caller);
}

static void check_calls_at(const struct record_2023 *record, const struct jitdump_track *track,
                           uint32_t code_offset, uint32_t position)
{
    struct chain chain;
    make_chain(&chain, track, position);
    uint32_t depth = 0, range = 0;
    for (uint32_t i = 0; i < record->head.inline_call_record_count; i++) {
        const struct samply_inline_call_record call =
            ELEMENT(struct samply_inline_call_record, record->calls, i);
        if (call.range_count > record->head.range_count - range)
            wrong("ranges of a call", call.range_count, record->head.range_count - range);
        if (holds_at(record, range, call.range_count, code_offset)) {
            expect("depth of a call", call.depth, depth);
            if (++depth >= chain.length)
                wrong("calls at an offset", depth, chain.length);
            const struct place place = call_place(track, chain.positions[depth - 1]);
            check_function_2023(record, call.function_index,
                                function_of(track, chain.positions[depth]));
            expect("line of a call", call.call_line_number, place.line);
            expect("column of a call", call.call_column_number, from_zero(place.column));
        }
        range += call.range_count;
    }
    expect("ranges of all calls", range, record->head.range_count);
    expect("calls at an offset", depth, chain.length != 0 ? chain.length - 1 : 0);
}

static void check_line_at(const struct record_2023 *record, const struct jitdump_track *track,
                          uint32_t code_offset, uint32_t position)
{
    const struct place place = place_of(track, position);
    struct samply_line_record line = {0, 0, 0, 0};
    for (uint32_t i = 0; i < record->head.line_record_count; i++) {
        const struct samply_line_record each =
            ELEMENT(struct samply_line_record, record->lines, i);
        if (each.code_offset > code_offset)
            break;
        line = each;
    }
    expect("line", line.line_number, place.line);
    if (place.line == 0)
        return;
    expect("column", line.column_number, from_zero(place.column));
    expect_file(record->file, string_at(record->files, line.file_index, record->head.file_count),
                place.file);
}

void check_inline_2023(struct reader payload, const struct file_facts *file,
                       const struct jitdump_track *track, uint32_t code_size)
{
    struct record_2023 record;
    record.file = file;
    const size_t head_size = sizeof(record.head) - sizeof(record.head.header);
    memcpy((char *)&record.head + sizeof(record.head.header), read_bytes(&payload, head_size),
           head_size);
    record.files = read_strings(&payload, record.head.file_count, record.head.file_list_size);
    record.names = read_strings(&payload, record.head.function_names_count,
                                record.head.function_names_list_size);
    record.functions = read_bytes(
        &payload, record.head.function_count * sizeof(struct samply_function_record));
    record.calls = read_bytes(
        &payload, record.head.inline_call_record_count * sizeof(struct samply_inline_call_record));
    record.ranges =
        read_bytes(&payload, record.head.range_count * sizeof(struct samply_range_record));
    record.lines =
        read_bytes(&payload, record.head.line_record_count * sizeof(struct samply_line_record));
    expect("bytes left in the record of 2023", payload.left, 0);

    check_function_2023(&record, 0, outer_function(track));
    for (uint32_t i = 0; i < record.head.range_count; i++) {
        const struct samply_range_record range =
            ELEMENT(struct samply_range_record, record.ranges, i);
        if (range.start_offset >= code_size || range.size == 0 ||
            range.size > code_size - range.start_offset)
            wrong("a range outside of the code", range.start_offset, code_size);
    }
    for (uint64_t i = 0; i < track->offset_count; i++) {
        if (track->offsets[i].code_offset >= code_size)
            break;
        const struct jitdump_offset *offset = &track->offsets[i];
        const uint32_t position = position_at(track, offset->code_offset);
        check_calls_at(&record, track, offset->code_offset, position);
        check_line_at(&record, track, offset->code_offset, position);
    }
}
