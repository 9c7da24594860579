/*
 * Which code was in use when, as far as copies of the stack tell: each life that an instruction pointer,
 * or anything that may be a return address, lay in.
 *
 * Times are told by how many of the dump's lives had begun: between two loads nothing changes.
 */
#ifndef JITDUMP_INJECT_CODE_USES_H
#define JITDUMP_INJECT_CODE_USES_H

#include "inject/profile_clock.h"

struct code_use {
    uint32_t loads; /* how many lives had begun */
    uint32_t life;  /* index of history->lives */
};

struct code_uses {
    struct code_use *of; /* ascending, no two alike, once settled */
    uint64_t count;
    uint64_t capacity;
    uint64_t *begins; /* of the lives, ascending: the profile's times */
    uint32_t begin_count;
};

/* False: out of memory. To be freed in any case. */
bool jd_code_uses_init(struct code_uses *uses, const struct history *history,
                       const struct profile_clock *clock);
void jd_code_uses_free(struct code_uses *uses);

/* False: out of memory. */
bool jd_code_uses_add(struct code_uses *uses, uint64_t time, uint32_t life);

void jd_code_uses_settle(struct code_uses *uses);

#endif
