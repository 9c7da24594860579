#include "../platform/c_library.h"

#include "track.h"

#include "struct_size.h"

const struct jitdump_track *jd_track_choose(const struct jitdump_code *code, const char *name,
                                            struct jitdump_track *copy)
{
    /* The array's stride. */
    const uint32_t size = code->tracks[0].struct_size;
    if (!jd_struct_size_is_sound(size, TRACK_SIZE_MIN))
        return NULL;
    const struct jitdump_track *chosen = &code->tracks[0];
    for (uint64_t i = 0; name[0] != '\0' && i < code->track_count; i++) {
        const struct jitdump_track *track = (const struct jitdump_track *)(const void *)(
            (const unsigned char *)code->tracks + i * size);
        if (track->struct_size != size)
            return NULL;
        if (track->name != NULL && strcmp(track->name, name) == 0) {
            chosen = track;
            break;
        }
    }
    return struct_known(chosen, copy, sizeof(*copy), TRACK_SIZE_MIN);
}

int jd_track_check_counts(struct track *track, const struct jitdump_track *input,
                          uint64_t code_size)
{
    if (input->reserved != 0)
        return JITDUMP_ERROR_RESERVED;
    if ((input->functions == NULL && input->function_count != 0) ||
        (input->positions == NULL && input->position_count != 0) ||
        (input->offsets == NULL && input->offset_count != 0))
        return JITDUMP_ERROR_TRACK_MISSING;
    if (input->function_count > JITDUMP_TRACK_COUNT_MAX ||
        input->position_count > JITDUMP_TRACK_COUNT_MAX ||
        input->offset_count > JITDUMP_TRACK_COUNT_MAX)
        return JITDUMP_ERROR_TRACK_COUNT;
    *track = (struct track){
        .functions = input->functions,
        .positions = input->positions,
        .offsets = input->offsets,
        .function_count = (uint32_t)input->function_count,
        .position_count = (uint32_t)input->position_count,
        .offset_count = (uint32_t)input->offset_count,
        .code_size = (uint32_t)code_size,
        .outer_function = JITDUMP_NONE,
    };
    return 0;
}

/* The code's own function is one, of which each file that has code of it has an element. */
static bool is_outer_function(const struct track *track, uint32_t function)
{
    return function == track->outer_function ||
           text_is_equal(function_name(&track->functions[function]),
                         function_name(&track->functions[track->outer_function]));
}

static int check_positions(struct track *track, uint32_t *depth)
{
    for (uint32_t i = 0; i < track->position_count; i++) {
        const struct jitdump_position *position = &track->positions[i];
        if (position->function >= track->function_count)
            return JITDUMP_ERROR_POSITION_FUNCTION;
        const struct jitdump_function *function = &track->functions[position->function];
        if (function->name == NULL || function->name[0] == '\0')
            return JITDUMP_ERROR_FUNCTION_NAME;
        if (function->reserved != 0)
            return JITDUMP_ERROR_RESERVED;
        if (position->caller == JITDUMP_NONE) {
            if (track->outer_function == JITDUMP_NONE)
                track->outer_function = position->function;
            if (!is_outer_function(track, position->function))
                return JITDUMP_ERROR_POSITION_OUTERMOST;
            depth[i] = 0;
        } else {
            if (position->caller >= i)
                return JITDUMP_ERROR_POSITION_CALLER;
            depth[i] = depth[position->caller] + 1;
            if (depth[i] > JITDUMP_INLINE_DEPTH_MAX)
                return JITDUMP_ERROR_POSITION_DEPTH;
        }
    }
    return 0;
}

static int check_offsets(struct track *track, bool strict)
{
    bool empty = true;
    uint32_t inside = 0; /* so many, and then come those outside of the code */
    for (uint32_t i = 0; i < track->offset_count; i++) {
        const struct jitdump_offset *offset = &track->offsets[i];
        if (i > 0 && offset->code_offset < offset[-1].code_offset)
            return JITDUMP_ERROR_OFFSETS_ORDER;
        if (strict && i > 0 && offset->code_offset == offset[-1].code_offset)
            return JITDUMP_ERROR_OFFSETS_ORDER;
        if (offset->code_offset >= track->code_size) {
            if (strict)
                return JITDUMP_ERROR_OFFSETS_RANGE;
            continue;
        }
        inside = i + 1;
        if (offset->position != JITDUMP_NONE) {
            if (offset->position >= track->position_count)
                return JITDUMP_ERROR_POSITION_INDEX;
            const bool counts =
                i + 1 == track->offset_count || offset[1].code_offset != offset->code_offset;
            empty = empty && !counts;
        }
    }
    track->offset_count = inside;
    return empty ? JITDUMP_ERROR_TRACK_EMPTY : 0;
}

int jd_track_check(struct track *track, bool strict, struct scratch *scratch)
{
    uint32_t *const depth = scratch_take(scratch, track->position_count);
    track->depth = depth;
    const int error = check_positions(track, depth);
    return error != 0 ? error : check_offsets(track, strict);
}

void jd_track_mark_reached(const struct track *track, uint32_t *marks)
{
    uint32_t next = 0;
    while (track_next_offset(track, &next)) {
        /* Each position is marked once, and a marked one's callers are too. */
        uint32_t position = track->offsets[next - 1].position;
        while (position != JITDUMP_NONE && marks[position] == JITDUMP_NONE) {
            marks[position] = 0;
            position = track->positions[position].caller;
        }
    }
}

struct text jd_track_file(const struct track *track, uint32_t position)
{
    return function_file(&track->functions[track->positions[position].function]);
}

/* Without counting its letters, which most who ask for lines do later. */
static bool has_file(const struct track *track, uint32_t position)
{
    const char *file = track->functions[track->positions[position].function].file;
    return file != NULL && file[0] != '\0';
}

uint32_t jd_track_line(const struct track *track, uint32_t position)
{
    if (position == JITDUMP_NONE)
        return 0;
    return has_file(track, position) ? track->positions[position].line : 0;
}

uint32_t jd_track_column(const struct track *track, uint32_t position)
{
    return jd_track_line(track, position) != 0 ? track->positions[position].column : 0;
}

static bool is_same_line(const struct track *track, uint32_t one, uint32_t other)
{
    if (one == other)
        return true;
    const uint32_t line = jd_track_line(track, one);
    if (line != jd_track_line(track, other))
        return false;
    if (line == 0)
        return true;
    if (track->positions[one].column != track->positions[other].column)
        return false;
    return text_is_equal(jd_track_file(track, one), jd_track_file(track, other));
}

bool jd_track_next_line(const struct track *track, const uint32_t *shown, uint32_t *next,
                        uint32_t *position)
{
    while (track_next_offset(track, next)) {
        uint32_t candidate = track->offsets[*next - 1].position;
        if (shown != NULL && candidate != JITDUMP_NONE)
            candidate = shown[candidate];
        if (!is_same_line(track, candidate, *position)) {
            *position = candidate;
            return true;
        }
    }
    return false;
}
