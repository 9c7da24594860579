#include "reader/live_set.h"

#include <stdlib.h>

bool jd_live_set_init(struct live_set *set, uint32_t rank_count)
{
    uint64_t word_count = 0;
    uint64_t words[LIVE_SET_LEVELS];
    uint64_t members = rank_count;
    set->level_count = 0;
    do {
        members = members / 64 + 1;
        words[set->level_count++] = members;
        word_count += members;
    } while (members > 1);

    set->levels[0] = calloc((size_t)word_count, sizeof(uint64_t));
    if (set->levels[0] == NULL)
        return false;
    for (unsigned int level = 1; level < set->level_count; level++)
        set->levels[level] = set->levels[level - 1] + words[level - 1];
    return true;
}

void jd_live_set_free(struct live_set *set)
{
    free(set->levels[0]);
    *set = (struct live_set){0};
}

void jd_live_set_add(struct live_set *set, uint32_t rank)
{
    for (unsigned int level = 0; level < set->level_count; level++) {
        set->levels[level][rank / 64] |= UINT64_C(1) << rank % 64;
        rank /= 64;
    }
}

void jd_live_set_remove(struct live_set *set, uint32_t rank)
{
    for (unsigned int level = 0; level < set->level_count; level++) {
        uint64_t *const word = &set->levels[level][rank / 64];
        *word &= ~(UINT64_C(1) << rank % 64);
        if (*word != 0)
            return;
        rank /= 64;
    }
}

static unsigned int lowest_bit(uint64_t word)
{
    return (unsigned int)__builtin_ctzll(word);
}

static unsigned int highest_bit(uint64_t word)
{
    return 63 - (unsigned int)__builtin_clzll(word);
}

uint32_t jd_live_set_below(const struct live_set *set, uint32_t rank)
{
    for (unsigned int level = 0; level < set->level_count; level++) {
        const uint64_t below =
            set->levels[level][rank / 64] & ((UINT64_C(1) << rank % 64) - 1);
        rank /= 64;
        if (below == 0)
            continue;
        rank = rank * 64 + highest_bit(below);
        while (level > 0)
            rank = rank * 64 + highest_bit(set->levels[--level][rank]);
        return rank;
    }
    return LIVE_SET_NONE;
}

uint32_t jd_live_set_above(const struct live_set *set, uint32_t rank)
{
    for (unsigned int level = 0; level < set->level_count; level++) {
        /* ~1 << 63 is 0, as it should be. */
        const uint64_t above = set->levels[level][rank / 64] & (~UINT64_C(1) << rank % 64);
        rank /= 64;
        if (above == 0)
            continue;
        rank = rank * 64 + lowest_bit(above);
        while (level > 0)
            rank = rank * 64 + lowest_bit(set->levels[--level][rank]);
        return rank;
    }
    return LIVE_SET_NONE;
}
