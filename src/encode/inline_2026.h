/*
 * The inline record of 2026 (id 827346260): the track almost as it is given.
 */
#ifndef JITDUMP_INLINE_2026_H
#define JITDUMP_INLINE_2026_H

#include "stamp.h"
#include "string_list.h"
#include "track.h"

#pragma GCC visibility push(hidden)

struct inline_2026 {
    const struct track *track;
    struct string_list strings;
    /* Of each position: its number in the record, or JITDUMP_NONE if it is not there. */
    uint32_t *numbers;
    /* Of each function: string indices, JITDUMP_NONE where not needed. */
    uint32_t *names;
    uint32_t *files;
    uint32_t offset_count;
    uint32_t position_count;
    /* The number of a position that says "unknown", where some code has none. */
    uint32_t unknown;
    uint64_t size;
};

uint64_t jd_inline_2026_words(const struct track *track);
int jd_inline_2026_measure(struct inline_2026 *info, const struct track *track,
                           const struct file_names *file_names, struct scratch *scratch,
                           uint64_t *size);
unsigned char *jd_inline_2026_write(unsigned char *to, const struct record_stamp *stamp,
                                    uint64_t code_addr, const struct inline_2026 *info);

#pragma GCC visibility pop

#endif
