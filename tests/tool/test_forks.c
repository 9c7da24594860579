/* Who was forked from whom, also where pids were given again. */
#include "inject/forks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PIDS = 12, FORKS_MAX = 30, ROUNDS = 5000 };

static uint32_t random_number(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % below;
}

static void heirs_are(const struct forks *forks, uint32_t pid, const struct heir *expected,
                      uint64_t expected_count)
{
    uint64_t count;
    struct heir *const heirs = jd_forks_heirs(forks, pid, &count);
    assert_non_null(heirs);
    assert_int_equal(count, expected_count);
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(heirs[i].pid, expected[i].pid);
        assert_int_equal(heirs[i].until, expected[i].until);
    }
    free(heirs);
}

/* A grandchild has the memory as it was when its parent was forked, if that was earlier. Of two processes with one
 * pid it is the first. */
static void children_and_grandchildren(void **state)
{
    static const struct fork_event events[] = {{70, 3, 2}, {30, 4, 3}, {20, 3, 2}, {50, 2, 1}, {10, 9, 8}};
    static const struct heir of_1[] = {{1, UINT64_MAX}, {2, 50}, {3, 20}, {4, 20}};
    static const struct heir of_8[] = {{8, UINT64_MAX}, {9, 10}};
    struct forks forks = {0};
    (void)state;
    for (unsigned int i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        assert_true(jd_forks_add(&forks, &events[i]));
    assert_true(jd_forks_settle(&forks));
    heirs_are(&forks, 1, of_1, 4);
    heirs_are(&forks, 8, of_8, 2);
    heirs_are(&forks, 4711, &(struct heir){4711, UINT64_MAX}, 1);
    assert_int_equal(jd_forks_find(&forks, 4)->parent, 3);
    assert_null(jd_forks_find(&forks, 1));
    jd_forks_free(&forks);
}

/* As if two processes forked each other in turns. Each is an heir once. */
static void circles_end(void **state)
{
    struct forks forks = {0};
    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        const struct fork_event event = {i, 1 + (uint32_t)(i % 2), 2 - (uint32_t)(i % 2)};
        assert_true(jd_forks_add(&forks, &event));
    }
    assert_true(jd_forks_settle(&forks));
    heirs_are(&forks, 1, (const struct heir[]){{1, UINT64_MAX}, {2, 1}}, 2);
    heirs_are(&forks, 2, (const struct heir[]){{2, UINT64_MAX}, {1, 0}}, 2);
    jd_forks_free(&forks);
}

/* Whoever can be reached, and nobody else; the earliest fork of each. */
static void all_are_found(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (unsigned int round = 0; round < ROUNDS; round++) {
        struct forks forks = {0};
        bool reached[PIDS] = {true};
        uint64_t earliest[PIDS], expected = 0, count, found = 0;
        struct fork_event events[FORKS_MAX];
        const uint32_t fork_count = random_number(&seed, FORKS_MAX + 1);
        for (uint32_t pid = 0; pid < PIDS; pid++)
            earliest[pid] = UINT64_MAX;
        for (uint32_t i = 0; i < fork_count; i++) {
            events[i] = (struct fork_event){random_number(&seed, 1000), random_number(&seed, PIDS),
                                            random_number(&seed, PIDS)};
            assert_true(jd_forks_add(&forks, &events[i]));
            if (events[i].time < earliest[events[i].pid])
                earliest[events[i].pid] = events[i].time;
        }
        assert_true(jd_forks_settle(&forks));
        for (unsigned int generation = 0; generation < PIDS; generation++)
            for (uint32_t i = 0; i < fork_count; i++)
                reached[events[i].pid] |= reached[events[i].parent];
        struct heir *const heirs = jd_forks_heirs(&forks, 0, &count);
        assert_non_null(heirs);
        for (uint64_t i = 0; i < count; i++)
            found += reached[heirs[i].pid];
        for (uint32_t pid = 0; pid < PIDS; pid++) {
            const struct fork_event *const event = jd_forks_find(&forks, pid);
            assert_int_equal(event != NULL ? event->time : UINT64_MAX, earliest[pid]);
            expected += reached[pid];
        }
        assert_int_equal(found, count);
        assert_int_equal(count, expected);
        free(heirs);
        jd_forks_free(&forks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_and_grandchildren),
        cmocka_unit_test(circles_end),
        cmocka_unit_test(all_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
