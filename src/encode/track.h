/*
 * A track, checked: the one description that all encodings are made of.
 */
#ifndef JITDUMP_TRACK_H
#define JITDUMP_TRACK_H

#include "jitdump.h"
#include "scratch.h"
#include "text.h"

#pragma GCC visibility push(hidden)

struct track {
    const struct jitdump_function *functions;
    const struct jitdump_position *positions;
    const struct jitdump_offset *offsets;
    uint32_t function_count;
    uint32_t position_count;
    uint32_t offset_count;
    uint32_t code_size;
    /* That of the first position without caller. Others' may differ, but for the name. */
    uint32_t outer_function;
    /* How many callers each position has, one above the other. */
    const uint32_t *depth;
};

/* The code's track called `name` (empty: none is chosen), else its first. The code has one. `copy` is
 * for one that is shorter than this version knows it. NULL: JITDUMP_ERROR_STRUCT_SIZE. */
const struct jitdump_track *jd_track_choose(const struct jitdump_code *code, const char *name,
                                            struct jitdump_track *copy);

/* In two steps, since what can be read of the arrays says how much scratch is needed. */
int jd_track_check_counts(struct track *track, const struct jitdump_track *input,
                          uint64_t code_size);
int jd_track_check(struct track *track, bool strict, struct scratch *scratch);

static inline uint64_t track_words(const struct track *track)
{
    return track->position_count; /* depth */
}

/* Sets marks[p] to 0 for each position to which an offset leads, over callers too. `marks` are
 * JITDUMP_NONE before. */
void jd_track_mark_reached(const struct track *track, uint32_t *marks);

static inline struct text function_name(const struct jitdump_function *function)
{
    return text_of(function->name, function->name_size);
}

/* Of size 0: unknown. */
static inline struct text function_file(const struct jitdump_function *function)
{
    return text_of(function->file, function->file_size);
}

/* Steps through the offsets; of those that are equal, the last. Before the first step *next is 0;
 * after each, the offset is offsets[*next - 1]. False after the last. */
static inline bool track_next_offset(const struct track *track, uint32_t *next)
{
    while (*next < track->offset_count) {
        const struct jitdump_offset *offset = &track->offsets[(*next)++];
        if (*next == track->offset_count || offset[0].code_offset != offset[1].code_offset)
            return true;
    }
    return false;
}

/* The file of a position; of size 0: unknown. */
struct text jd_track_file(const struct track *track, uint32_t position);

/* The position's line and column, 0 if unknown or if there is no position. */
uint32_t jd_track_line(const struct track *track, uint32_t position);
uint32_t jd_track_column(const struct track *track, uint32_t position);

/*
 * Steps through the offsets at which file, line or column change. Before the first step *next
 * is 0 and *position JITDUMP_NONE; after each, *position is that of the code from
 * offsets[*next - 1] on. `shown`, if not NULL, says which position to take for each. False
 * after the last.
 */
bool jd_track_next_line(const struct track *track, const uint32_t *shown, uint32_t *next,
                        uint32_t *position);

#pragma GCC visibility pop

#endif
