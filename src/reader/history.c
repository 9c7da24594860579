#include "reader/history.h"

#include "reader/grow.h"
#include "reader/sort.h"

#include <stdlib.h>

void jd_history_free(struct history *history)
{
    free(history->pieces);
    free(history->lives);
    free(history->sources);
    history->pieces = NULL;
    history->lives = NULL;
    history->sources = NULL;
    history->piece_count = history->life_count = history->source_count = 0;
}

/* With the address that they are sorted by. */
struct life_at {
    uint64_t address;
    uint32_t life;
};

static int compare(const void *left, const void *right)
{
    const struct life_at *const l = left, *const r = right;
    return l->address < r->address ? -1 : l->address > r->address;
}

bool jd_history_at(const struct history *history, uint64_t time, uint32_t **lives, uint32_t *count)
{
    struct life_at *found = NULL;
    uint64_t capacity = 0;
    uint32_t found_count = 0;
    for (uint32_t i = 0; i < history->life_count; i++) {
        const struct life *const life = &history->lives[i];
        if (!life_holds(life, time))
            continue;
        struct life_at *const more = grow(found, &capacity, (uint64_t)found_count + 1, sizeof(*more));
        if (more == NULL) {
            free(found);
            return false;
        }
        found = more;
        found[found_count++] = (struct life_at){life->address, i};
    }
    uint32_t *const result = malloc(((size_t)found_count + 1) * sizeof(*result));
    if (result != NULL) {
        sort(found, found_count, sizeof(*found), compare);
        for (uint32_t i = 0; i < found_count; i++)
            result[i] = found[i].life;
        *lives = result;
        *count = found_count;
    }
    free(found);
    return result != NULL;
}
