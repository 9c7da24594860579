#include "../platform/c_library.h"

#include "inline_2026.h"

/* At most two strings for each function that has a position. */
static uint64_t string_bound(const struct track *track)
{
    return 2 * (uint64_t)(track->function_count < track->position_count ? track->function_count
                                                                        : track->position_count);
}

uint64_t jd_inline_2026_words(const struct track *track)
{
    return track->position_count + 2 * (uint64_t)track->function_count +
           jd_string_list_words(string_bound(track));
}

static void name_function(struct inline_2026 *info, uint32_t function)
{
    if (info->names[function] != JITDUMP_NONE)
        return;
    const char *file = info->track->functions[function].file;
    info->names[function] = jd_string_list_add(&info->strings, function, STRING_NAME);
    if (file != NULL && file[0] != '\0')
        info->files[function] = jd_string_list_add(&info->strings, function, STRING_FILE);
}

static void number_positions(struct inline_2026 *info)
{
    const struct track *track = info->track;
    jd_track_mark_reached(track, info->numbers);
    info->position_count = 0;
    for (uint32_t i = 0; i < track->position_count; i++) {
        if (info->numbers[i] == JITDUMP_NONE)
            continue;
        info->numbers[i] = info->position_count++;
        name_function(info, track->positions[i].function);
    }
}

/* Steps through the offsets at which the position changes: *number is the position's, in the
 * record, of the code from offsets[*next - 1] on. Before the first step *next is 0 and *number
 * that of "unknown". */
static bool next_offset(const struct inline_2026 *info, uint32_t *next, uint32_t *number)
{
    const struct track *track = info->track;
    while (track_next_offset(track, next)) {
        const uint32_t position = track->offsets[*next - 1].position;
        const uint32_t candidate =
            position == JITDUMP_NONE ? info->unknown : info->numbers[position];
        if (candidate != *number) {
            *number = candidate;
            return true;
        }
    }
    return false;
}

int jd_inline_2026_measure(struct inline_2026 *info, const struct track *track,
                           const struct file_names *file_names, struct scratch *scratch,
                           uint64_t *size)
{
    info->track = track;
    info->numbers = scratch_take_filled(scratch, track->position_count, 0xff);
    info->names = scratch_take_filled(scratch, track->function_count, 0xff);
    info->files = scratch_take_filled(scratch, track->function_count, 0xff);
    jd_string_list_init(&info->strings, track->functions, file_names, string_bound(track), scratch);
    number_positions(info);

    info->unknown = info->position_count;
    info->offset_count = 0;
    bool has_unknown = false;
    uint32_t next = 0, number = info->unknown;
    while (next_offset(info, &next, &number)) {
        info->offset_count++;
        has_unknown |= number == info->unknown;
    }
    info->position_count += has_unknown;
    if (has_unknown)
        name_function(info, track->outer_function);

    info->size = sizeof(struct samply_jit_code_debug_info_2026) +
                 (uint64_t)info->offset_count * sizeof(struct samply_code_offset) +
                 (uint64_t)info->position_count * sizeof(struct samply_source_position) +
                 info->strings.size;
    *size = info->size;
    return info->size > UINT32_MAX ? JITDUMP_ERROR_RECORD_SIZE : 0;
}

static unsigned char *write_position(unsigned char *to, const struct inline_2026 *info,
                                     uint32_t function_index, uint32_t caller, uint32_t position)
{
    const struct jitdump_function *function = &info->track->functions[function_index];
    const struct samply_source_position record = {
        .caller = (int32_t)caller, /* JITDUMP_NONE is -1 */
        .function_name = info->names[function_index],
        .file = (int32_t)info->files[function_index], /* here too */
        .function_start_line = function->start_line,
        .function_start_column = function->start_column,
        .line = jd_track_line(info->track, position),
        .column = jd_track_column(info->track, position),
    };
    return put(to, &record, sizeof(record));
}

unsigned char *jd_inline_2026_write(unsigned char *to, const struct record_stamp *stamp,
                                    uint64_t code_addr, const struct inline_2026 *info)
{
    const struct track *track = info->track;
    const struct samply_jit_code_debug_info_2026 record = {
        .header = record_header(SAMPLY_JIT_CODE_DEBUG_INFO_2026, info->size, stamp),
        .code_addr = code_addr,
        .code_offset_count = info->offset_count,
        .source_position_count = info->position_count,
        .string_count = info->strings.count,
    };
    to = put(to, &record, sizeof(record));

    uint32_t next = 0, number = info->unknown;
    while (next_offset(info, &next, &number)) {
        const struct samply_code_offset offset = {track->offsets[next - 1].code_offset, number};
        to = put(to, &offset, sizeof(offset));
    }
    for (uint32_t i = 0; i < track->position_count; i++) {
        if (info->numbers[i] == JITDUMP_NONE)
            continue;
        const struct jitdump_position *position = &track->positions[i];
        const uint32_t caller =
            position->caller == JITDUMP_NONE ? JITDUMP_NONE : info->numbers[position->caller];
        to = write_position(to, info, position->function, caller, i);
    }
    /* The format has no word for "no position from here on", and an index out of range may break
     * a reader: somewhere in the code's own function, then. */
    if (info->position_count != info->unknown)
        to = write_position(to, info, track->outer_function, JITDUMP_NONE, JITDUMP_NONE);
    return jd_string_list_write(to, &info->strings);
}
