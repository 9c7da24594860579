/* Which mappings of a file have code that was there before: by what the header says, taken word for word, on
 * random histories. */
#include "inject/remapped_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LIVES_MAX = 60, MAPPINGS_MAX = 12, PLACES = 64, TIMES = 90, ROUNDS = 20000 };

struct fixture {
    struct timed_life lives[LIVES_MAX]; /* by address */
    uint32_t life_count;
    struct scanned_mapping mappings[MAPPINGS_MAX]; /* by time */
    const struct scanned_mapping *pointers[MAPPINGS_MAX];
    uint32_t mapping_count;
};

static uint32_t random_number(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % below;
}

static int by_address(const void *left, const void *right)
{
    const struct timed_life *const a = left, *const b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

static int by_time(const void *left, const void *right)
{
    const struct scanned_mapping *const a = left, *const b = right;
    return a->time < b->time ? -1 : a->time > b->time;
}

/* Some times are the same, some lives have none, and some addresses many lives. */
static void make(struct fixture *fixture, uint64_t *seed)
{
    fixture->life_count = random_number(seed, LIVES_MAX + 1);
    fixture->mapping_count = 1 + random_number(seed, MAPPINGS_MAX);
    for (uint32_t i = 0; i < fixture->life_count; i++) {
        struct timed_life *const life = &fixture->lives[i];
        life->address = random_number(seed, PLACES);
        life->begin = random_number(seed, TIMES);
        life->end = random_number(seed, 3) == 0 ? UINT64_MAX : life->begin + random_number(seed, TIMES / 3);
    }
    for (uint32_t i = 0; i < fixture->mapping_count; i++) {
        struct scanned_mapping *const mapping = &fixture->mappings[i];
        *mapping = (struct scanned_mapping){.time = random_number(seed, TIMES),
                                            .begin = random_number(seed, PLACES)};
        mapping->end = mapping->begin + random_number(seed, PLACES / 4);
        fixture->pointers[i] = mapping;
    }
    qsort(fixture->lives, fixture->life_count, sizeof(*fixture->lives), by_address);
    qsort(fixture->mappings, fixture->mapping_count, sizeof(*fixture->mappings), by_time);
}

static bool holds(const struct scanned_mapping *mapping, const struct timed_life *life)
{
    return mapping->begin <= life->address && life->address < mapping->end;
}

static bool expected(const struct fixture *fixture, const struct scanned_mapping *mapping)
{
    for (uint32_t i = 0; i < fixture->life_count; i++) {
        const struct timed_life *const life = &fixture->lives[i];
        if (!holds(mapping, life) || life->begin > mapping->time || life->end <= mapping->time)
            continue;
        for (const struct scanned_mapping *other = fixture->mappings; other < mapping; other++)
            if (holds(other, life) && other->time <= life->begin)
                return true;
    }
    return false;
}

static void as_the_header_says(void **state)
{
    uint64_t seed = 1;
    uint32_t found = 0, asked = 0;
    (void)state;
    for (unsigned int round = 0; round < ROUNDS; round++) {
        struct fixture fixture;
        bool of_code[MAPPINGS_MAX];
        make(&fixture, &seed);
        assert_true(jd_remapped_find(fixture.lives, fixture.life_count, fixture.pointers,
                                     fixture.mapping_count, of_code));
        for (uint32_t i = 0; i < fixture.mapping_count; i++) {
            assert_int_equal(of_code[i], expected(&fixture, &fixture.mappings[i]));
            found += of_code[i];
            asked++;
        }
    }
    assert_in_range(found, asked / 10, asked / 10 * 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_header_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
