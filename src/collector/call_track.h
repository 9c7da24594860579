/*
 * A function's code, the calls that are inlined in it and where the code comes from, as a track for
 * jitdump_load().
 */
#ifndef JITDUMP_COLLECTOR_CALL_TRACK_H
#define JITDUMP_COLLECTOR_CALL_TRACK_H

#include "jitdump.h"

#include <stdbool.h>
#include <stddef.h>

/* The function itself is the first one. */
struct track_call {
    const char *name; /* not empty */
    const char *file; /* NULL: unknown */
    uint32_t start_line;
    /* An earlier one; of the function itself JITDUMP_NONE. */
    uint32_t parent;
    /* The call in the parent's source. */
    uint32_t site_line;
    uint32_t site_column;
};

/* Code of a call, by offsets. */
struct track_range {
    uint32_t call;
    uint32_t start;
    uint32_t end;
};

struct track_place {
    const char *file; /* NULL: as its call's */
    uint32_t line;    /* 0: unknown */
    uint32_t column;
};

/* Where the code at an offset comes from, inside of the call that it is in. */
typedef struct track_place track_place_at(const void *context, uint32_t call, uint32_t offset);

struct track_source {
    const struct track_call *calls;
    size_t call_count;
    /* Of the inlined calls. Where two overlap, the later one has the code: children stand behind
     * their parents. */
    const struct track_range *ranges;
    size_t range_count;
    uint32_t code_size;
    track_place_at *place_at;
    const void *context;
};

struct call_track {
    struct jitdump_track track;
    struct jitdump_function *functions;
    struct jitdump_position *positions;
    struct jitdump_offset *offsets;
};

/* `bounds` are the offsets at which place_at() may change its mind, in any order, with room for
 * 2 * range_count + 1 more; it is overwritten. The strings stay the caller's. False: out of memory. */
bool jd_call_track_make(struct call_track *made, const struct track_source *source, uint32_t *bounds,
                        size_t bound_count);
void jd_call_track_free(struct call_track *made);

#endif
