/*
 * The lines of a piece of code, and what is inlined in it, as a description for jitdump_load().
 */
#ifndef JITDUMP_COLLECTOR_ITT_TRACK_H
#define JITDUMP_COLLECTOR_ITT_TRACK_H

#include "itt_methods.h"
#include "jitdump.h"

struct itt_track {
    struct jitdump_track track;
    struct jitdump_function *functions;
    struct jitdump_position *positions;
    struct jitdump_offset *offsets;
};

/* The strings are those of the methods. False: out of memory, or there are no lines and nothing is inlined;
 * then it is empty. */
bool jd_itt_track_describe(struct itt_track *made, const struct itt_method *method,
                              const struct itt_region *region);
void jd_itt_track_free(struct itt_track *made);

#endif
