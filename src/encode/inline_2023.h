/*
 * SAMPLY_JIT_CODE_DEBUG_INFO2 (id 827346259), the inline record of 2023: the calls that are
 * inlined, as a tree in depth-first order, each with the ranges of code that belong to it and
 * to what is inlined in it; and the innermost lines.
 *
 * A call is known by its caller's position and the function: all positions with these two
 * are in it. Calls are numbered as their first positions come, so that a call's number is
 * above that of the call it is in.
 */
#ifndef JITDUMP_INLINE_2023_H
#define JITDUMP_INLINE_2023_H

#include "stamp.h"
#include "string_list.h"
#include "track.h"

#pragma GCC visibility push(hidden)

struct inline_2023 {
    const struct track *track;
    /* Of each position: its call; JITDUMP_NONE where nothing is inlined. */
    uint32_t *calls;

    /* Of each call: its first position, the call that it is in (or JITDUMP_NONE), how many
     * ranges it has, its place in the depth-first order, and the call at that place. */
    uint32_t call_count;
    uint32_t *position;
    uint32_t *parent;
    uint32_t *range_count;
    uint32_t *place;
    uint32_t *at_place;
    /* Working memory, a word for each call. */
    uint32_t *work;
    struct index_table table;

    /* Of each function: its number in the record, or JITDUMP_NONE if it is not there; and of
     * each number: the function, and its strings. */
    uint32_t *numbers;
    uint32_t function_count;
    uint32_t *functions;
    uint32_t *names;
    uint32_t *files;
    struct string_list name_list;
    struct string_list file_list;

    uint32_t line_count;
    uint64_t total_range_count;
    uint64_t size;
};

uint64_t jd_inline_2023_words(const struct track *track);
int jd_inline_2023_measure(struct inline_2023 *info, const struct track *track,
                           const struct file_names *file_names, struct scratch *scratch,
                           uint64_t *size);
unsigned char *jd_inline_2023_write(unsigned char *to, const struct record_stamp *stamp,
                                    const struct inline_2023 *info);

#pragma GCC visibility pop

#endif
