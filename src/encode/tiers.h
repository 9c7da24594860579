/*
 * The tiers that a dump knows. One thread at a time adds; any number look up meanwhile, without
 * a lock.
 */
#ifndef JITDUMP_TIERS_H
#define JITDUMP_TIERS_H

#include "jitdump.h"

#include <stdatomic.h>
#include <stdlib.h>

#pragma GCC visibility push(hidden)

struct tier {
    uint32_t number; /* from 1 */
    uint32_t color_index;
    const char *name;
    char prefix[]; /* may be empty; the name lies behind it */
};

struct tiers {
    _Atomic uint32_t count;
    struct tier *list[JITDUMP_TIERS_MAX];
};

/* NULL: there is none of this number. */
static inline const struct tier *tiers_find(const struct tiers *tiers, uint32_t number)
{
    /* Acquire pairs with the release in jd_tiers_add(). */
    const uint32_t count = atomic_load_explicit(&tiers->count, memory_order_acquire);
    return number != 0 && number <= count ? tiers->list[number - 1] : NULL;
}

/* There is place for it. NULL: out of memory. */
const struct tier *jd_tiers_add(struct tiers *tiers, const char *name, uint32_t color_index,
                                const char *prefix);

static inline void tiers_free(struct tiers *tiers)
{
    for (uint32_t i = 0; i < tiers->count; i++)
        free(tiers->list[i]);
}

#pragma GCC visibility pop

#endif
