#include "inject/remapped_code.h"

#include "reader/live_set.h"
#include "reader/sort.h"

/* What happens at one time, in this order. */
enum moment_kind { LIFE_ENDS, FILE_COMES, LIFE_BEGINS, FILE_IS_ASKED };

struct moment {
    uint64_t time;
    enum moment_kind kind;
    uint64_t index; /* of a life, or of a mapping */
};

/* The lives that begin in the file's memory, and the mappings, in the order of their times. */
struct replaying {
    const struct timed_life *lives;
    uint32_t life_count;
    const struct scanned_mapping *const *mappings;
    struct moment *moments;
    uint64_t moment_count;
    struct live_set bare;   /* where the file has not been yet */
    struct live_set living; /* what was loaded where it was, and is there */
    uint64_t *first; /* of each life whose place is not bare: the mapping that came first */
};

static int by_address(const void *left, const void *right)
{
    const struct timed_life *const a = left, *const b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

struct timed_life *jd_timed_lives(const struct history *history, const struct profile_clock *clock)
{
    struct timed_life *const lives = malloc((history->life_count + (size_t)1) * sizeof(*lives));
    for (uint32_t i = 0; lives != NULL && i < history->life_count; i++) {
        const struct life *const life = &history->lives[i];
        lives[i] = (struct timed_life){
            .address = life->address,
            .begin = jd_profile_time(clock, life->begin),
            .end = life->end == UINT64_MAX ? UINT64_MAX : jd_profile_time(clock, life->end)};
    }
    if (lives != NULL)
        sort(lives, history->life_count, sizeof(*lives), by_address);
    return lives;
}

/* How many of the lives lie below the address. */
static uint32_t count_below(const struct timed_life *lives, uint32_t count, uint64_t address)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (lives[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int by_time(const void *left, const void *right)
{
    const struct moment *const a = left, *const b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void add_moment(struct replaying *replaying, uint64_t time, enum moment_kind kind, uint64_t index)
{
    replaying->moments[replaying->moment_count++] = (struct moment){time, kind, index};
}

static bool begin_replay(struct replaying *replaying, uint64_t mapping_count)
{
    const uint32_t count = replaying->life_count;
    replaying->moments =
        malloc(2 * ((size_t)count + (size_t)mapping_count) * sizeof(*replaying->moments));
    replaying->first = malloc(((size_t)count + 1) * sizeof(*replaying->first));
    if (replaying->moments == NULL || replaying->first == NULL ||
        !jd_live_set_init(&replaying->bare, count) || !jd_live_set_init(&replaying->living, count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct timed_life *const life = &replaying->lives[i];
        jd_live_set_add(&replaying->bare, i);
        if (life->begin >= life->end)
            continue;
        add_moment(replaying, life->begin, LIFE_BEGINS, i);
        if (life->end != UINT64_MAX)
            add_moment(replaying, life->end, LIFE_ENDS, i);
    }
    for (uint64_t i = 0; i < mapping_count; i++) {
        add_moment(replaying, replaying->mappings[i]->time, FILE_COMES, i);
        add_moment(replaying, replaying->mappings[i]->time, FILE_IS_ASKED, i);
    }
    sort(replaying->moments, replaying->moment_count, sizeof(*replaying->moments), by_time);
    return true;
}

/* The first of the set that is not below `rank`. */
static uint32_t member_from(const struct live_set *set, uint32_t rank)
{
    return live_set_has(set, rank) ? rank : jd_live_set_above(set, rank);
}

static void replay(struct replaying *replaying, const struct moment *moment, bool *of_code)
{
    const uint32_t life = (uint32_t)moment->index;
    if (moment->kind == LIFE_BEGINS && !live_set_has(&replaying->bare, life))
        jd_live_set_add(&replaying->living, life);
    if (moment->kind == LIFE_ENDS && live_set_has(&replaying->living, life))
        jd_live_set_remove(&replaying->living, life);
    if (moment->kind == LIFE_BEGINS || moment->kind == LIFE_ENDS)
        return;

    const struct scanned_mapping *const mapping = replaying->mappings[moment->index];
    const uint32_t begin = count_below(replaying->lives, replaying->life_count, mapping->begin);
    const uint32_t end = count_below(replaying->lives, replaying->life_count, mapping->end);
    const bool comes = moment->kind == FILE_COMES;
    struct live_set *const set = comes ? &replaying->bare : &replaying->living;
    for (uint32_t i = member_from(set, begin); i < end; i = jd_live_set_above(set, i)) {
        if (comes) {
            replaying->first[i] = moment->index;
            jd_live_set_remove(set, i);
        } else if (replaying->first[i] != moment->index) {
            of_code[moment->index] = true;
            return;
        }
    }
}

bool jd_remapped_find(const struct timed_life *lives, uint32_t life_count,
                      const struct scanned_mapping *const *mappings, uint64_t count, bool *of_code)
{
    uint64_t begin = UINT64_MAX, end = 0;
    for (uint64_t i = 0; i < count; i++) {
        of_code[i] = false;
        begin = mappings[i]->begin < begin ? mappings[i]->begin : begin;
        end = mappings[i]->end > end ? mappings[i]->end : end;
    }
    const uint32_t first = count_below(lives, life_count, begin);
    struct replaying replaying = {.lives = lives + first,
                                  .life_count = count_below(lives, life_count, end) - first,
                                  .mappings = mappings};
    const bool ready = begin_replay(&replaying, count);
    for (uint64_t i = 0; ready && i < replaying.moment_count; i++)
        replay(&replaying, &replaying.moments[i], of_code);
    jd_live_set_free(&replaying.bare);
    jd_live_set_free(&replaying.living);
    free(replaying.moments);
    free(replaying.first);
    return ready;
}
