/*
 * The lines of a piece of code that was reported by Intel's JIT API, and what is inlined in it.
 */
#ifndef JITDUMP_COLLECTOR_ITT_TRACK_H
#define JITDUMP_COLLECTOR_ITT_TRACK_H

#include "call_track.h"
#include "itt_methods.h"

/* The strings are those of the methods. False: out of memory, or there are no lines and nothing is inlined;
 * then it is empty. */
bool jd_itt_track_make(struct call_track *made, const struct itt_method *method,
                       const struct itt_region *region);

#endif
