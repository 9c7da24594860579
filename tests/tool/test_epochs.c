/* Which functions are in which epoch: by what the header says, taken word for word, on random histories. */
#include "inject/epochs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LIVES_MAX = 12, PLACES = 40, SIZES = 8, USES_MAX = 3, ROUNDS = 5000 };
static const uint64_t base = UINT64_C(0x7f0000000000);

struct fixture {
    struct piece pieces[LIVES_MAX];
    struct life lives[LIVES_MAX]; /* begin at 100, 101, 102 … */
    struct history history;
    struct code_use of[(LIVES_MAX + 1) * USES_MAX];
    struct code_uses uses;
};

/* What is expected. */
struct model {
    bool members[(LIVES_MAX + 1) * USES_MAX][LIVES_MAX];
    uint64_t begins[(LIVES_MAX + 1) * USES_MAX];
    uint32_t count;
};

static uint32_t random_number(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % below;
}

/* Uses of any code at any time, as clocks that are not exact make them seem: before the first load, too, and of
 * two functions that lie over each other. */
static void make(struct fixture *fixture, uint64_t *seed)
{
    const uint32_t count = 1 + random_number(seed, LIVES_MAX);
    memset(fixture, 0, sizeof(*fixture));
    fixture->history = (struct history){.pieces = fixture->pieces, .piece_count = count,
                                        .lives = fixture->lives, .life_count = count};
    fixture->uses.of = fixture->of;
    for (uint32_t i = 0; i < count; i++) {
        fixture->pieces[i] = (struct piece){.code_size = 1 + random_number(seed, SIZES)};
        fixture->lives[i] = (struct life){.address = base + random_number(seed, PLACES),
                                          .begin = UINT64_C(100) + i,
                                          .end = UINT64_MAX,
                                          .piece = i};
    }
    for (uint32_t loads = 0; loads <= count; loads++)
        for (uint32_t i = random_number(seed, USES_MAX + 1); i > 0; i--)
            fixture->of[fixture->uses.count++] = (struct code_use){loads, random_number(seed, count)};
    jd_code_uses_settle(&fixture->uses);
}

static bool overlap(const struct fixture *fixture, uint32_t one, uint32_t other)
{
    const struct life *const a = &fixture->lives[one], *const b = &fixture->lives[other];
    return a->address < b->address + fixture->pieces[other].code_size &&
           b->address < a->address + fixture->pieces[one].code_size;
}

static bool fits(const struct fixture *fixture, const bool *members, uint32_t life)
{
    for (uint32_t i = 0; i < fixture->history.life_count; i++)
        if (i != life && members[i] && overlap(fixture, i, life))
            return false;
    return true;
}

/* As long as all that is in use fits, the epoch lasts. */
static void expect(struct model *model, const struct fixture *fixture)
{
    const struct code_uses *const uses = &fixture->uses;
    *model = (struct model){0};
    for (uint64_t begin = 0, end = 0; begin < uses->count; begin = end) {
        const uint32_t loads = uses->of[begin].loads;
        bool all_fit = model->count != 0;
        for (; end < uses->count && uses->of[end].loads == loads; end++)
            all_fit = all_fit && fits(fixture, model->members[model->count - 1], uses->of[end].life);
        if (!all_fit)
            model->begins[model->count++] = loads == 0 ? 0 : UINT64_C(99) + loads;
        bool *const members = model->members[model->count - 1];
        for (uint64_t i = end; i-- > begin;) /* of two in one place the later one */
            members[uses->of[i].life] =
                members[uses->of[i].life] || fits(fixture, members, uses->of[i].life);
    }
}

static void as_long_as_all_fits(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (unsigned int round = 0; round < ROUNDS; round++) {
        static struct fixture fixture;
        static struct model model;
        struct epochs epochs;
        make(&fixture, &seed);
        expect(&model, &fixture);
        assert_true(jd_epochs_find(&epochs, &fixture.history, &fixture.uses));
        assert_int_equal(epochs.count, model.count);
        for (uint32_t i = 0; i < model.count; i++)
            assert_int_equal(epochs.begins[i], model.begins[i]);
        for (uint64_t i = 0; i < epochs.member_count; i++) {
            const struct epoch_member member = epochs.members[i];
            assert_true(i == 0 || member.epoch >= epochs.members[i - 1].epoch);
            assert_true(model.members[member.epoch][member.life]);
            model.members[member.epoch][member.life] = false; /* found: not again */
        }
        for (uint32_t i = 0; i < model.count; i++)
            for (uint32_t life = 0; life < LIVES_MAX; life++)
                assert_false(model.members[i][life]);
        jd_epochs_free(&epochs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_long_as_all_fits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
