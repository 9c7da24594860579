/* What lay where when, and what was noted before: against a walk over all lives, on random histories. */
#include "reader/life_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { LIVES_MAX = 60, SPAN = 300, SIZES = 80, EARLIER = 3, ASKED = 60, ROUNDS = 3000 };
static const uint64_t base = UINT64_C(0x7f0000000000);

struct fixture {
    struct indexed_life lives[LIVES_MAX];
    uint32_t count;
    bool found[LIVES_MAX];
    bool early[LIVES_MAX];
};

static uint32_t random_number(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % below;
}

/* Each life ends what it lies over, and may seem to be there a little earlier. */
static void make(struct fixture *fixture, uint64_t *seed)
{
    const uint32_t span = 1 + random_number(seed, SPAN);
    const uint64_t earlier = random_number(seed, 2) * EARLIER;
    *fixture = (struct fixture){.count = random_number(seed, LIVES_MAX + 1)};
    for (uint32_t i = 0; i < fixture->count; i++) {
        struct indexed_life *const life = &fixture->lives[i];
        const uint64_t time = 10 + 2 * (uint64_t)i;
        life->address = base + random_number(seed, span);
        life->end = life->address + 1 + random_number(seed, SIZES);
        life->from = time - earlier;
        life->until = UINT64_MAX;
        for (struct indexed_life *old = fixture->lives; old < life; old++)
            if (old->until == UINT64_MAX && old->address < life->end && life->address < old->end)
                old->until = time;
    }
}

static bool is_found(void *context, uint32_t life)
{
    struct fixture *const fixture = context;
    assert_in_range(life, 0, fixture->count - 1);
    assert_false(fixture->found[life]); /* once */
    fixture->found[life] = true;
    return true;
}

static void ask(struct fixture *fixture, struct life_index *index, uint64_t *seed)
{
    const uint64_t address = base + random_number(seed, SPAN + SIZES + 20) - 10;
    const uint64_t time = random_number(seed, 2 * LIVES_MAX + 20);
    const uint32_t leaf = jd_life_index_leaf(index, address);
    uint32_t last = UINT32_MAX, next = UINT32_MAX;
    memset(fixture->found, 0, sizeof(fixture->found));
    if (leaf != 0) {
        jd_life_index_note(index, leaf, time);
        assert_true(jd_life_index_ask(index, leaf, time, is_found, fixture));
    }
    for (uint32_t i = 0; i < fixture->count; i++) {
        const struct indexed_life *const life = &fixture->lives[i];
        const bool is_there = life->address <= address && address < life->end;
        assert_int_equal(fixture->found[i], is_there && life->from <= time && time < life->until);
        fixture->early[i] |= is_there && time < life->from;
        if (is_there && life->from <= time)
            last = i;
        if (is_there && life->from > time && next == UINT32_MAX)
            next = i;
    }
    assert_int_equal(jd_life_index_last(index, leaf, time), last);
    assert_int_equal(jd_life_index_next(index, leaf, time), next);
}

static void as_a_walk_over_all(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (unsigned int round = 0; round < ROUNDS; round++) {
        struct fixture fixture;
        struct life_index index;
        make(&fixture, &seed);
        assert_true(jd_life_index_init(&index, fixture.lives, fixture.count));
        for (unsigned int i = 0; i < ASKED; i++)
            ask(&fixture, &index, &seed);
        jd_life_index_settle(&index);
        for (uint32_t i = 0; i < fixture.count; i++)
            assert_int_equal(jd_life_index_is_early(&index, i), fixture.early[i]);
        jd_life_index_free(&index);
    }
}

static bool refuse(void *context, uint32_t life)
{
    (void)life;
    ++*(unsigned int *)context;
    return false;
}

static void who_has_enough_is_not_called_again(void **state)
{
    const struct indexed_life lives[] = {{16, 32, 0, UINT64_MAX}, {16, 48, 0, UINT64_MAX}};
    struct life_index index;
    unsigned int calls = 0;
    (void)state;
    assert_true(jd_life_index_init(&index, lives, 2));
    assert_false(jd_life_index_ask(&index, jd_life_index_leaf(&index, 20), 5, refuse, &calls));
    assert_int_equal(calls, 1);
    jd_life_index_free(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_walk_over_all),
        cmocka_unit_test(who_has_enough_is_not_called_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
