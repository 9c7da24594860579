/* What lay where when, as samples ask: against a walk over all, on random histories. */
#include "check/known_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LIVES_MAX = 20, PLACES = 60, SIZES = 12, ASKED = 20, ROUNDS = 3000, STEP = 4, PAST = 10 };
static const uint64_t base = UINT64_C(0x7f0000000000);

struct fixture {
    struct piece pieces[LIVES_MAX];
    struct life lives[LIVES_MAX];
    struct history history;
    struct known_code code;
};

static uint32_t random_number(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % below;
}

static uint64_t end_of(const struct fixture *fixture, uint32_t life)
{
    return fixture->lives[life].address + fixture->pieces[life].code_size;
}

/* The profile's times are the dump's and a shift, or twice the dump's and 1000. */
static uint64_t profile_time(const struct known_times *times, uint64_t time)
{
    return time == UINT64_MAX ? time : times->conversion.known ? 1000 + 2 * time : time + times->shift;
}

/* Each life ends what it lies over; some end by themselves, as one that is moved. */
static void make(struct fixture *fixture, uint64_t *seed)
{
    const uint32_t count = random_number(seed, LIVES_MAX + 1);
    *fixture = (struct fixture){.history = {.pieces = fixture->pieces, .piece_count = count,
                                            .lives = fixture->lives, .life_count = count}};
    for (uint32_t i = 0; i < count; i++) {
        struct life *const life = &fixture->lives[i];
        fixture->pieces[i].code_size = 1 + random_number(seed, SIZES);
        *life = (struct life){.address = base + random_number(seed, PLACES),
                              .begin = PAST + STEP * (uint64_t)i,
                              .end = UINT64_MAX,
                              .piece = i};
        for (uint32_t old = 0; old < i; old++)
            if (fixture->lives[old].end == UINT64_MAX &&
                ((fixture->lives[old].address < end_of(fixture, i) && life->address < end_of(fixture, old)) ||
                 random_number(seed, 10) == 0))
                fixture->lives[old].end = life->begin;
    }
    fixture->code.history = &fixture->history;
    fixture->code.times = (struct known_times){.comparable = random_number(seed, 8) != 0,
                                               .shift = 100 * random_number(seed, 2),
                                               .tolerance = random_number(seed, 3) * STEP};
    if (random_number(seed, 3) == 0)
        fixture->code.times.conversion =
            (struct perf_conversion){.known = true, .shift = 0, .mult = 2, .zero = 1000};
    fixture->code.until = random_number(seed, 2) == 0
                              ? UINT64_MAX
                              : profile_time(&fixture->code.times,
                                             PAST + random_number(seed, STEP * (LIVES_MAX + 2)));
    assert_true(jd_known_code_init(&fixture->code));
}

/* 0: the code is there at the time. Else twice how long until it is, or, and one more, since it was: of two as near
 * it is the one to come. */
static uint64_t distance(const struct known_times *times, const struct life *life, uint64_t time)
{
    const uint64_t begin = profile_time(times, life->begin), end = profile_time(times, life->end);
    return time < begin ? 2 * (begin - time) : time >= end ? 2 * (time - end) + 1 : 0;
}

static void ask(const struct fixture *fixture, uint64_t *seed)
{
    const struct known_code *const code = &fixture->code;
    const struct known_times *const times = &code->times;
    const uint64_t address = base + random_number(seed, PLACES + SIZES + 4) - 2;
    const uint64_t asked = profile_time(times, random_number(seed, PAST + STEP * (LIVES_MAX + 4)));
    const uint64_t time = asked < code->until ? asked : code->until;
    const struct life *other, *nearest = NULL;
    const struct life *const found = jd_known_code_at(code, address, asked, &other);
    for (uint32_t i = 0; i < fixture->history.life_count; i++) {
        const struct life *const life = &fixture->lives[i];
        if (address < life->address || address >= end_of(fixture, i))
            continue;
        if (nearest == NULL || !times->comparable || distance(times, life, time) < distance(times, nearest, time))
            nearest = life;
    }
    if (nearest == NULL) {
        assert_null(found);
        assert_null(other);
        return;
    }
    if (!times->comparable) { /* the last */
        assert_ptr_equal(found, nearest);
        return;
    }
    const uint64_t begin = profile_time(times, nearest->begin);
    const bool is_there =
        distance(times, nearest, time) == 0 || (time < begin && begin - time <= times->tolerance);
    assert_ptr_equal(found, is_there ? nearest : NULL);
    if (!is_there)
        assert_ptr_equal(other, nearest);
}

static void as_a_walk_over_all(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (unsigned int round = 0; round < ROUNDS; round++) {
        static struct fixture fixture;
        make(&fixture, &seed);
        for (unsigned int i = 0; i < ASKED; i++) {
            const uint64_t begin = base + random_number(&seed, PLACES), end = begin + random_number(&seed, 5);
            bool is_any = false;
            ask(&fixture, &seed);
            for (uint32_t life = 0; life < fixture.history.life_count; life++)
                is_any |= begin <= fixture.lives[life].address && fixture.lives[life].address < end;
            assert_int_equal(jd_known_code_in(&fixture.code, begin, end), is_any);
        }
        free(fixture.code.of_piece);
        jd_known_code_free(&fixture.code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_a_walk_over_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
