/*
 * A profile's time in epochs: in each, no address is used by two functions.
 *
 * An epoch has the lives that were in use in it. One that is in use for longer is in several.
 */
#ifndef JITDUMP_INJECT_EPOCHS_H
#define JITDUMP_INJECT_EPOCHS_H

#include "inject/code_uses.h"

struct epoch_member {
    uint32_t epoch;
    uint32_t life; /* index of history->lives */
};

struct epochs {
    struct epoch_member *members; /* by epoch */
    uint64_t member_count;
    uint64_t member_capacity;
    uint64_t *begins; /* when they begin, in the dump's time */
    uint64_t count;
    uint64_t capacity;
};

/* The uses are settled. False: out of memory. To be freed in any case. */
bool jd_epochs_find(struct epochs *epochs, const struct history *history,
                    const struct code_uses *uses);
void jd_epochs_free(struct epochs *epochs);

#endif
