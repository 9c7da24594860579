#include "inject/epochs.h"

#include "reader/grow.h"

struct dividing {
    struct epochs *epochs;
    const struct history *history;
    uint32_t *current; /* the lives of this epoch, by address, disjoint */
    uint32_t current_count;
};

void jd_epochs_free(struct epochs *epochs)
{
    free(epochs->members);
    free(epochs->begins);
    *epochs = (struct epochs){0};
}

static bool are_apart(const struct dividing *dividing, uint32_t lower, uint32_t upper)
{
    const struct life *const lives = dividing->history->lives;
    return lives[upper].address - lives[lower].address >=
           life_size(dividing->history, &lives[lower]);
}

enum place { PLACE_FREE, PLACE_ITS_OWN, PLACE_TAKEN };

/* `at` receives where the life belongs among those of the epoch. */
static enum place find_place(const struct dividing *dividing, uint32_t life, uint32_t *at)
{
    const struct life *const lives = dividing->history->lives;
    uint32_t low = 0, high = dividing->current_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (lives[dividing->current[middle]].address < lives[life].address)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    const bool is_last = low == dividing->current_count;
    if (!is_last && dividing->current[low] == life)
        return PLACE_ITS_OWN;
    const bool is_free =
        (is_last || are_apart(dividing, life, dividing->current[low])) &&
        (low == 0 || are_apart(dividing, dividing->current[low - 1], life));
    return is_free ? PLACE_FREE : PLACE_TAKEN;
}

static bool begin_epoch(struct dividing *dividing, uint32_t loads)
{
    struct epochs *const epochs = dividing->epochs;
    uint64_t *const grown =
        grow(epochs->begins, &epochs->capacity, epochs->count + 1, sizeof(*epochs->begins));
    if (grown == NULL)
        return false;
    epochs->begins = grown;
    epochs->begins[epochs->count++] = loads == 0 ? 0 : dividing->history->lives[loads - 1].begin;
    dividing->current_count = 0;
    return true;
}

static bool add_member(struct dividing *dividing, uint32_t life)
{
    struct epochs *const epochs = dividing->epochs;
    uint32_t at;
    if (find_place(dividing, life, &at) != PLACE_FREE)
        return true;
    struct epoch_member *const grown = grow(epochs->members, &epochs->member_capacity,
                                            epochs->member_count + 1, sizeof(*grown));
    if (grown == NULL)
        return false;
    epochs->members = grown;
    epochs->members[epochs->member_count++] =
        (struct epoch_member){(uint32_t)epochs->count - 1, life};
    memmove(dividing->current + at + 1, dividing->current + at,
            (dividing->current_count - at) * sizeof(*dividing->current));
    dividing->current[at] = life;
    dividing->current_count++;
    return true;
}

/* Uses between two loads: lives that were there together. But for times that are not exact: there the
 * later ones, which come last, win. */
static bool add_uses(struct dividing *dividing, const struct code_use *uses, uint64_t count)
{
    uint32_t at;
    bool fits = dividing->epochs->count != 0;
    for (uint64_t i = 0; fits && i < count; i++)
        fits = find_place(dividing, uses[i].life, &at) != PLACE_TAKEN;
    bool added = fits || begin_epoch(dividing, uses[0].loads);
    for (uint64_t i = count; added && i-- > 0;)
        added = add_member(dividing, uses[i].life);
    return added;
}

static bool divide(struct dividing *dividing, const struct code_uses *uses)
{
    dividing->current = malloc((dividing->history->life_count + (size_t)1) * sizeof(*dividing->current));
    if (dividing->current == NULL)
        return false;
    for (uint64_t begin = 0, end; begin < uses->count; begin = end) {
        for (end = begin; end < uses->count && uses->of[end].loads == uses->of[begin].loads;)
            end++;
        if (!add_uses(dividing, uses->of + begin, end - begin))
            return false;
    }
    return true;
}

bool jd_epochs_find(struct epochs *epochs, const struct history *history,
                    const struct code_uses *uses)
{
    *epochs = (struct epochs){0};
    struct dividing dividing = {.epochs = epochs, .history = history};
    const bool divided = divide(&dividing, uses);
    free(dividing.current);
    return divided;
}
