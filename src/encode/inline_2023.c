#include "../platform/c_library.h"

#include "inline_2023.h"

static uint64_t function_bound(const struct track *track)
{
    return track->function_count < track->position_count ? track->function_count
                                                         : track->position_count;
}

uint64_t jd_inline_2023_words(const struct track *track)
{
    const uint64_t functions = function_bound(track);
    return 7 * (uint64_t)track->position_count + index_table_words(track->position_count) +
           track->function_count + 3 * functions + 2 * jd_string_list_words(functions);
}

static void take_memory(struct inline_2023 *info, const struct file_names *file_names,
                        struct scratch *scratch)
{
    const struct track *track = info->track;
    const uint64_t functions = function_bound(track);
    info->calls = scratch_take_filled(scratch, track->position_count, 0xff);
    info->position = scratch_take(scratch, track->position_count);
    info->parent = scratch_take(scratch, track->position_count);
    info->range_count = scratch_take(scratch, track->position_count);
    info->place = scratch_take(scratch, track->position_count);
    info->at_place = scratch_take(scratch, track->position_count);
    info->work = scratch_take(scratch, track->position_count);
    index_table_init(&info->table, track->position_count, scratch);
    info->numbers = scratch_take_filled(scratch, track->function_count, 0xff);
    info->functions = scratch_take(scratch, functions);
    info->names = scratch_take(scratch, functions);
    info->files = scratch_take(scratch, functions);
    jd_string_list_init(&info->name_list, track->functions, file_names, functions, scratch);
    jd_string_list_init(&info->file_list, track->functions, file_names, functions, scratch);
}

/* Functions */

static void add_function(struct inline_2023 *info, uint32_t function)
{
    if (info->numbers[function] != JITDUMP_NONE)
        return;
    const uint32_t number = info->function_count++;
    info->numbers[function] = number;
    info->functions[number] = function;
    info->names[number] = jd_string_list_add(&info->name_list, function, STRING_NAME);
    info->files[number] = jd_string_list_add(&info->file_list, function, STRING_FILE);
}

/* Calls */

struct call_search {
    const struct inline_2023 *info;
    const struct jitdump_position *position;
};

static bool is_same_call(const void *context, uint32_t call)
{
    const struct call_search *search = context;
    const struct jitdump_position *other =
        &search->info->track->positions[search->info->position[call]];
    return other->caller == search->position->caller &&
           other->function == search->position->function;
}

/* The call that the position is in, which is new if it is the first there. */
static uint32_t find_call(struct inline_2023 *info, uint32_t index)
{
    const struct jitdump_position *position = &info->track->positions[index];
    if (position->caller == JITDUMP_NONE)
        return JITDUMP_NONE;
    const struct call_search search = {info, position};
    const uint32_t hash = position->caller * UINT32_C(0x85ebca6b) + position->function;
    uint32_t *const slot = index_table_find(&info->table, hash, is_same_call, &search);
    if (*slot == JITDUMP_NONE) {
        const uint32_t call = info->call_count++;
        info->position[call] = index;
        info->parent[call] = info->calls[position->caller];
        info->range_count[call] = 0;
        *slot = call;
    }
    return *slot;
}

/* How deep the call is; 0 for none, 1 for one from the outer function. */
static uint32_t call_depth(const struct inline_2023 *info, uint32_t call)
{
    return call == JITDUMP_NONE ? 0 : info->track->depth[info->position[call]];
}

static void find_calls(struct inline_2023 *info)
{
    const struct track *track = info->track;
    info->call_count = 0;
    info->function_count = 0;
    jd_track_mark_reached(track, info->calls);
    add_function(info, track->outer_function);
    for (uint32_t i = 0; i < track->position_count; i++) {
        if (info->calls[i] == JITDUMP_NONE)
            continue;
        info->calls[i] = find_call(info, i);
        add_function(info, track->positions[i].function);
    }
}

/* Depth-first order without recursion: with the size of each call's subtree, a call's place
 * is known as soon as its parent's is. */
static void order_calls(struct inline_2023 *info)
{
    uint32_t *const subtree = info->work;
    for (uint32_t i = 0; i < info->call_count; i++)
        subtree[i] = 1;
    for (uint32_t i = info->call_count; i-- > 0;)
        if (info->parent[i] != JITDUMP_NONE)
            subtree[info->parent[i]] += subtree[i];

    /* From here on, subtree[i] of a call whose place is known is the place of its next child. */
    uint32_t next_outer = 0;
    for (uint32_t i = 0; i < info->call_count; i++) {
        uint32_t *const next =
            info->parent[i] == JITDUMP_NONE ? &next_outer : &subtree[info->parent[i]];
        info->place[i] = *next;
        *next += subtree[i];
        info->at_place[info->place[i]] = i;
        subtree[i] = info->place[i] + 1;
    }
}

/* Ranges */

/* A range of the call starts, or ends, at the offset. */
typedef void range_visit(void *context, uint32_t call, uint32_t offset, bool starts);

/* From the code of one call to that of another: what is left, and what is entered. Costs no
 * more than the ranges that start and end. */
static void step(const struct inline_2023 *info, uint32_t from, uint32_t to, uint32_t offset,
                 range_visit *visit, void *context)
{
    while (from != to) {
        if (call_depth(info, from) >= call_depth(info, to)) {
            visit(context, from, offset, false);
            from = info->parent[from];
        } else {
            visit(context, to, offset, true);
            to = info->parent[to];
        }
    }
}

static void visit_ranges(const struct inline_2023 *info, range_visit *visit, void *context)
{
    const struct track *track = info->track;
    uint32_t call = JITDUMP_NONE;
    uint32_t behind = 0;
    while (track_next_offset(track, &behind)) {
        const struct jitdump_offset *offset = &track->offsets[behind - 1];
        const uint32_t position = offset->position;
        const uint32_t next = position == JITDUMP_NONE ? JITDUMP_NONE : info->calls[position];
        step(info, call, next, offset->code_offset, visit, context);
        call = next;
    }
    step(info, call, JITDUMP_NONE, track->code_size, visit, context);
}

static void count_range(void *context, uint32_t call, uint32_t offset, bool starts)
{
    struct inline_2023 *info = context;
    (void)offset;
    info->range_count[call] += starts;
    info->total_range_count += starts;
}

struct range_writer {
    unsigned char *ranges;
    uint32_t *next; /* of each call: the number of its range that is open, or comes next */
};

static void write_range(void *context, uint32_t call, uint32_t offset, bool starts)
{
    const struct range_writer *writer = context;
    unsigned char *const at =
        writer->ranges + (uint64_t)writer->next[call] * sizeof(struct samply_range_record);
    struct samply_range_record range = {.start_offset = offset};
    if (!starts) {
        memcpy(&range, at, sizeof(range));
        range.size = offset - range.start_offset;
        writer->next[call]++;
    }
    put(at, &range, sizeof(range));
}

/* Sizes */

static uint64_t padded(uint64_t size)
{
    return (size + 3) & ~UINT64_C(3);
}

int jd_inline_2023_measure(struct inline_2023 *info, const struct track *track,
                           const struct file_names *file_names, struct scratch *scratch,
                           uint64_t *size)
{
    info->track = track;
    take_memory(info, file_names, scratch);
    find_calls(info);
    order_calls(info);
    info->total_range_count = 0;
    visit_ranges(info, count_range, info);

    info->line_count = 0;
    uint32_t next = 0, position = JITDUMP_NONE;
    while (jd_track_next_line(track, NULL, &next, &position))
        info->line_count++;

    info->size = sizeof(struct samply_jit_code_debug_info2) + padded(info->file_list.size) +
                 padded(info->name_list.size) +
                 (uint64_t)info->function_count * sizeof(struct samply_function_record) +
                 (uint64_t)info->call_count * sizeof(struct samply_inline_call_record) +
                 info->total_range_count * sizeof(struct samply_range_record) +
                 (uint64_t)info->line_count * sizeof(struct samply_line_record);
    *size = info->size;
    return info->size > UINT32_MAX ? JITDUMP_ERROR_RECORD_SIZE : 0;
}

/* Writing */

/* The text counts columns from 0 and has no word for an unknown one. */
static uint32_t from_zero(uint32_t column)
{
    return column == 0 ? 0 : column - 1;
}

static unsigned char *write_strings(unsigned char *to, const struct string_list *list)
{
    to = jd_string_list_write(to, list);
    return put(to, "\0\0\0", (size_t)(padded(list->size) - list->size));
}

static unsigned char *write_functions(unsigned char *to, const struct inline_2023 *info)
{
    for (uint32_t i = 0; i < info->function_count; i++) {
        const struct jitdump_function *function = &info->track->functions[info->functions[i]];
        const struct samply_function_record record = {
            .function_name_index = info->names[i],
            .file_index = info->files[i],
            .start_line = function->start_line,
            .start_column = from_zero(function->start_column),
            .flags = function->flags,
        };
        to = put(to, &record, sizeof(record));
    }
    return to;
}

/* A call's line is one of the caller's file; so the record can't say it if the call is in a part of the
 * code's own function that comes from another file. */
static bool is_line_of_caller(const struct track *track, uint32_t caller)
{
    return track->positions[caller].caller != JITDUMP_NONE ||
           text_is_equal(jd_track_file(track, caller),
                         function_file(&track->functions[track->outer_function]));
}

static unsigned char *write_calls(unsigned char *to, const struct inline_2023 *info)
{
    const struct track *track = info->track;
    for (uint32_t i = 0; i < info->call_count; i++) {
        const uint32_t call = info->at_place[i];
        const struct jitdump_position *position = &track->positions[info->position[call]];
        const uint32_t called_at =
            is_line_of_caller(track, position->caller) ? position->caller : JITDUMP_NONE;
        const struct samply_inline_call_record record = {
            .depth = call_depth(info, call) - 1,
            .range_count = info->range_count[call],
            .function_index = info->numbers[position->function],
            .call_line_number = jd_track_line(track, called_at),
            .call_column_number = from_zero(jd_track_column(track, called_at)),
        };
        to = put(to, &record, sizeof(record));
    }
    return to;
}

static unsigned char *write_ranges(unsigned char *to, const struct inline_2023 *info)
{
    struct range_writer writer = {to, info->work};
    uint32_t next = 0;
    for (uint32_t i = 0; i < info->call_count; i++) {
        writer.next[info->at_place[i]] = next;
        next += info->range_count[info->at_place[i]];
    }
    visit_ranges(info, write_range, &writer);
    return to + info->total_range_count * sizeof(struct samply_range_record);
}

/* Code without line, once a line has gone before, has line 0 and that line's file. */
static unsigned char *write_line_records(unsigned char *to, const struct inline_2023 *info)
{
    const struct track *track = info->track;
    uint32_t next = 0, position = JITDUMP_NONE, file = 0;
    while (jd_track_next_line(track, NULL, &next, &position)) {
        const uint32_t line = jd_track_line(track, position);
        if (line != 0)
            file = info->files[info->numbers[track->positions[position].function]];
        const struct samply_line_record record = {
            .code_offset = track->offsets[next - 1].code_offset,
            .file_index = file,
            .line_number = line,
            .column_number = from_zero(jd_track_column(track, position)),
        };
        to = put(to, &record, sizeof(record));
    }
    return to;
}

unsigned char *jd_inline_2023_write(unsigned char *to, const struct record_stamp *stamp,
                                    const struct inline_2023 *info)
{
    const struct samply_jit_code_debug_info2 record = {
        .header = record_header(SAMPLY_JIT_CODE_DEBUG_INFO2, info->size, stamp),
        .file_count = info->file_list.count,
        .file_list_size = (uint32_t)padded(info->file_list.size),
        .function_names_count = info->name_list.count,
        .function_names_list_size = (uint32_t)padded(info->name_list.size),
        .function_count = info->function_count,
        .inline_call_record_count = info->call_count,
        .range_count = (uint32_t)info->total_range_count,
        .line_record_count = info->line_count,
    };
    to = put(to, &record, sizeof(record));
    to = write_strings(to, &info->file_list);
    to = write_strings(to, &info->name_list);
    to = write_functions(to, info);
    to = write_calls(to, info);
    to = write_ranges(to, info);
    return write_line_records(to, info);
}
