/*
 * What the collector may hand to jitdump_load(), whatever it was told.
 */
#ifndef COLLECTED_H
#define COLLECTED_H

#include "require.h"

#include "jitdump.h"

static inline void check_track(const struct jitdump_track *track, uint64_t code_size)
{
    for (uint64_t i = 0; i < track->position_count; i++) {
        const struct jitdump_position *const position = &track->positions[i];
        REQUIRE(position->function < track->function_count);
        REQUIRE(position->caller == JITDUMP_NONE || position->caller < i);
        REQUIRE(track->functions[position->function].name[0] != '\0');
    }
    for (uint64_t i = 0; i < track->offset_count; i++) {
        REQUIRE(track->offsets[i].position < track->position_count);
        REQUIRE(track->offsets[i].code_offset < code_size);
        REQUIRE(i == 0 || track->offsets[i].code_offset > track->offsets[i - 1].code_offset);
    }
}

static inline void check_code(const struct jitdump_code *code)
{
    REQUIRE(code->name[0] != '\0' && code->code_size != 0);
    for (uint64_t i = 0; i < code->track_count; i++)
        check_track(&code->tracks[i], code->code_size);
    volatile unsigned char last = 0;
    for (uint64_t i = 0; i < code->eh_frame_size; i++)
        last = ((const unsigned char *)code->eh_frame)[i];
    (void)last;
}

#endif
