/* The set of live ranks, against an array of flags. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reader/live_set.h"

#include <string.h>

enum { RANKS = 70000, STEPS = 20000 };

static uint32_t random_number(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

static void compare(const struct live_set *set, const bool *flags, uint32_t count, uint32_t rank)
{
    uint32_t below = LIVE_SET_NONE, above = LIVE_SET_NONE;
    for (uint32_t i = rank; i-- > 0 && below == LIVE_SET_NONE;)
        if (flags[i])
            below = i;
    for (uint32_t i = rank + 1; i < count && above == LIVE_SET_NONE; i++)
        if (flags[i])
            above = i;
    assert_int_equal(jd_live_set_below(set, rank), below);
    assert_int_equal(jd_live_set_above(set, rank), above);
    assert_int_equal(live_set_has(set, rank), flags[rank]);
}

static void test_random(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 63, 64, 65, 4095, 4096, 4097, RANKS};
    static bool flags[RANKS];
    uint64_t seed = 1;
    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
        const uint32_t count = counts[c];
        struct live_set set;
        assert_true(jd_live_set_init(&set, count));
        memset(flags, 0, sizeof(flags));
        for (int step = 0; step < STEPS; step++) {
            /* Few members at a time, so that neighbours are far. */
            const uint32_t rank = random_number(&seed) % count;
            if (random_number(&seed) % 8 == 0) {
                jd_live_set_add(&set, rank);
                flags[rank] = true;
            } else {
                const uint32_t near = step % 2 == 0 ? jd_live_set_above(&set, rank) : rank;
                if (near != LIVE_SET_NONE && flags[near]) {
                    jd_live_set_remove(&set, near);
                    flags[near] = false;
                }
            }
            compare(&set, flags, count, random_number(&seed) % count);
        }
        jd_live_set_free(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
