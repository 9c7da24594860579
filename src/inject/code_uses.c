#include "inject/code_uses.h"

#include "reader/grow.h"
#include "reader/numbers.h"

bool jd_code_uses_init(struct code_uses *uses, const struct history *history,
                       const struct profile_clock *clock)
{
    *uses = (struct code_uses){.begins = malloc((history->life_count + (size_t)1) * sizeof(uint64_t)),
                               .begin_count = history->life_count};
    if (uses->begins == NULL)
        return false;
    for (uint32_t i = 0; i < uses->begin_count; i++)
        uses->begins[i] = jd_profile_time(clock, history->lives[i].begin);
    numbers_sort(uses->begins, uses->begin_count);
    return true;
}

void jd_code_uses_free(struct code_uses *uses)
{
    free(uses->of);
    free(uses->begins);
    *uses = (struct code_uses){0};
}

static int by_loads(const void *left, const void *right)
{
    const struct code_use *const a = left, *const b = right;
    if (a->loads != b->loads)
        return a->loads < b->loads ? -1 : 1;
    return a->life < b->life ? -1 : a->life > b->life;
}

void jd_code_uses_settle(struct code_uses *uses)
{
    if (uses->count == 0)
        return;
    qsort(uses->of, (size_t)uses->count, sizeof(*uses->of), by_loads);
    uint64_t kept = 1;
    for (uint64_t i = 1; i < uses->count; i++)
        if (by_loads(&uses->of[i], &uses->of[kept - 1]) != 0)
            uses->of[kept++] = uses->of[i];
    uses->count = kept;
}

bool jd_code_uses_add(struct code_uses *uses, uint64_t time, uint32_t life)
{
    if (uses->count == uses->capacity) {
        /* A stack has the same callers in sample after sample. */
        jd_code_uses_settle(uses);
        const uint64_t wanted = uses->count > uses->capacity / 2 ? uses->capacity + 1 : 1;
        struct code_use *const grown = grow(uses->of, &uses->capacity, wanted, sizeof(*uses->of));
        if (grown == NULL)
            return false;
        uses->of = grown;
    }
    uses->of[uses->count++] = (struct code_use){numbers_until(uses->begins, uses->begin_count, time), life};
    return true;
}
