/*
 * Which of the addresses where code was ever loaded have code now.
 *
 * All these addresses are known before the first question, so each is known by its rank among
 * them, and the set is a bit for each rank, with a bit above for each word that is not zero, and so
 * on: to set, clear, or find the neighbour takes a step for each level, three for 262 144 addresses.
 */
#ifndef JITDUMP_READER_LIVE_SET_H
#define JITDUMP_READER_LIVE_SET_H

#include <stdbool.h>
#include <stdint.h>

#define LIVE_SET_NONE UINT32_MAX
/* 64^6 is more than 32 bits count. */
#define LIVE_SET_LEVELS 6

struct live_set {
    uint64_t *levels[LIVE_SET_LEVELS]; /* all in one allocation, the first */
    unsigned int level_count;
};

/* An empty set of ranks below `rank_count`, which is below LIVE_SET_NONE. False: out of memory. */
bool jd_live_set_init(struct live_set *set, uint32_t rank_count);
void jd_live_set_free(struct live_set *set);

void jd_live_set_add(struct live_set *set, uint32_t rank);
void jd_live_set_remove(struct live_set *set, uint32_t rank);

/* The nearest member below, or above, `rank`; LIVE_SET_NONE if there is none. */
uint32_t jd_live_set_below(const struct live_set *set, uint32_t rank);
uint32_t jd_live_set_above(const struct live_set *set, uint32_t rank);

static inline bool live_set_has(const struct live_set *set, uint32_t rank)
{
    return (set->levels[0][rank / 64] >> rank % 64 & 1) != 0;
}

#endif
