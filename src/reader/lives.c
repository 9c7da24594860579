#include "reader/lives.h"

#include "reader/live_set.h"
#include "reader/sort.h"

#include <stdlib.h>

/* The piece that has a code_index now: the one that was loaded last. A table with open addressing, of
 * twice as many places as pieces at least. */
struct code_indices {
    uint32_t *places; /* indices of history->pieces, HISTORY_NONE: free */
    unsigned int bits;
};

static bool code_indices_init(struct code_indices *indices, uint32_t piece_count)
{
    indices->bits = 1;
    while ((UINT64_C(1) << indices->bits) < 2 * (uint64_t)piece_count)
        indices->bits++;
    const size_t size = (size_t)1 << indices->bits;
    indices->places = malloc(size * sizeof(*indices->places));
    if (indices->places != NULL)
        memset(indices->places, 0xff, size * sizeof(*indices->places));
    return indices->places != NULL;
}

/* Where the code_index is, or where it belongs. */
static uint32_t *code_indices_find(const struct code_indices *indices, const struct history *history,
                                   uint64_t code_index)
{
    const uint64_t mask = (UINT64_C(1) << indices->bits) - 1;
    /* Fibonacci hashing: the golden ratio spreads what counts upwards. */
    uint64_t at = code_index * UINT64_C(0x9e3779b97f4a7c15) >> (64 - indices->bits);
    while (indices->places[at] != HISTORY_NONE &&
           history->pieces[indices->places[at]].code_index != code_index)
        at = (at + 1) & mask;
    return &indices->places[at];
}

static int compare_events(const void *left, const void *right)
{
    const struct history_event *const l = left, *const r = right;
    if (l->timestamp != r->timestamp)
        return l->timestamp < r->timestamp ? -1 : 1;
    return l->offset < r->offset ? -1 : l->offset > r->offset;
}

/* Appends a life of the piece. `newest` is of each piece its last life so far. */
static void begin_life(struct history *history, uint32_t *newest, uint32_t piece, uint64_t address,
                       uint64_t timestamp)
{
    const uint32_t index = history->life_count++;
    history->lives[index] = (struct life){
        .address = address,
        .begin = timestamp,
        .end = UINT64_MAX,
        .piece = piece,
        .next = HISTORY_NONE,
        .covered_by = HISTORY_NONE,
        .ended = LIFE_TO_THE_END,
    };
    if (newest[piece] == HISTORY_NONE)
        history->pieces[piece].first_life = index;
    else
        history->lives[newest[piece]].next = index;
    newest[piece] = index;
}

static void move_piece(struct history *history, const struct code_indices *indices, uint32_t *newest,
                       const struct history_event *event, const struct history_move *move,
                       const struct problems *problems)
{
    const uint32_t index = *code_indices_find(indices, history, move->code_index);
    if (index == HISTORY_NONE) {
        tell_problem(problems, event->offset,
                     "JIT_CODE_MOVE: no JIT_CODE_LOAD before it has its code_index");
        return;
    }
    const struct piece *const piece = &history->pieces[index];
    if (piece->code_size == 0)
        return;
    if (piece->code_size > UINT64_MAX - move->new_code_addr) {
        tell_problem(problems, event->offset,
                     "JIT_CODE_MOVE: the code reaches past the end of the address space");
        return;
    }
    if (history->lives[newest[index]].address != move->old_code_addr)
        tell_problem(problems, event->offset,
                     "JIT_CODE_MOVE: old_code_addr is not where the code was last");
    begin_life(history, newest, index, move->new_code_addr, event->timestamp);
}

static bool begin_lives(struct history *history, const struct history_event *events,
                        uint64_t event_count, const struct history_move *moves,
                        const struct problems *problems)
{
    struct code_indices indices = {0};
    uint32_t *const newest = malloc(((size_t)history->piece_count + 1) * sizeof(*newest));
    const bool any_moves = history->move_count > 0;
    if (newest == NULL || (any_moves && !code_indices_init(&indices, history->piece_count))) {
        free(newest);
        return false;
    }
    memset(newest, 0xff, (size_t)history->piece_count * sizeof(*newest));
    for (uint64_t i = 0; i < event_count; i++) {
        const struct history_event *const event = &events[i];
        if (event->piece == HISTORY_NONE) {
            move_piece(history, &indices, newest, event, &moves[event->move], problems);
            continue;
        }
        const struct piece *const piece = &history->pieces[event->piece];
        if (any_moves)
            *code_indices_find(&indices, history, piece->code_index) = event->piece;
        if (piece->code_size > 0)
            begin_life(history, newest, event->piece, piece->code_addr, event->timestamp);
    }
    free(indices.places);
    free(newest);
    return true;
}

struct ranked_life {
    uint64_t address;
    uint32_t life;
};

static int compare_addresses(const void *left, const void *right)
{
    const struct ranked_life *const l = left, *const r = right;
    if (l->address != r->address)
        return l->address < r->address ? -1 : 1;
    return l->life < r->life ? -1 : l->life > r->life;
}

/* While the lives are walked through: the rank of each life's address, and for each rank the
 * life that is there, or was there last. */
struct passing {
    struct history *history;
    uint32_t *rank;
    uint32_t *at_rank;
    uint32_t *previous; /* of each life: the same piece's life before, HISTORY_NONE: none */
    struct live_set live;
};

static bool passing_init(struct passing *passing, struct history *history)
{
    const size_t count = (size_t)history->life_count + 1;
    *passing = (struct passing){.history = history};
    struct ranked_life *const sorted = malloc(count * sizeof(*sorted));
    passing->rank = malloc(count * sizeof(*passing->rank));
    passing->at_rank = malloc(count * sizeof(*passing->at_rank));
    passing->previous = malloc(count * sizeof(*passing->previous));
    bool done = sorted != NULL && passing->rank != NULL && passing->at_rank != NULL &&
                passing->previous != NULL && jd_live_set_init(&passing->live, history->life_count);
    if (done) {
        memset(passing->previous, 0xff, count * sizeof(*passing->previous));
        for (uint32_t i = 0; i < history->life_count; i++) {
            sorted[i] = (struct ranked_life){history->lives[i].address, i};
            if (history->lives[i].next != HISTORY_NONE)
                passing->previous[history->lives[i].next] = i;
        }
        sort(sorted, history->life_count, sizeof(*sorted), compare_addresses);
        uint32_t rank = 0;
        for (uint32_t i = 0; i < history->life_count; i++) {
            if (i > 0 && sorted[i].address != sorted[i - 1].address)
                rank++;
            passing->rank[sorted[i].life] = rank;
        }
    }
    free(sorted);
    return done;
}

static void passing_free(struct passing *passing)
{
    jd_live_set_free(&passing->live);
    free(passing->rank);
    free(passing->at_rank);
    free(passing->previous);
}

static void end_life(struct passing *passing, uint32_t index, uint64_t time, enum life_end ended)
{
    struct life *const life = &passing->history->lives[index];
    life->end = time;
    life->ended = ended;
    jd_live_set_remove(&passing->live, passing->rank[index]);
}

static void cover(struct passing *passing, uint32_t rank, uint32_t by)
{
    const uint32_t covered = passing->at_rank[rank];
    end_life(passing, covered, passing->history->lives[by].begin, LIFE_COVERED);
    passing->history->lives[covered].covered_by = by;
}

/* Ends what lies where this life begins. Live code never overlaps, so of all that begins below,
 * only the nearest can reach into it. */
static void pass(struct passing *passing, uint32_t index)
{
    const struct history *const history = passing->history;
    const struct life *const life = &history->lives[index];
    const uint64_t size = life_size(history, life);
    const uint32_t rank = passing->rank[index];

    const uint32_t before = passing->previous[index];
    if (before != HISTORY_NONE && history->lives[before].ended == LIFE_TO_THE_END)
        end_life(passing, before, life->begin, LIFE_MOVED);

    const uint32_t below = jd_live_set_below(&passing->live, rank);
    if (below != LIVE_SET_NONE) {
        const struct life *const neighbour = &history->lives[passing->at_rank[below]];
        if (life->address - neighbour->address < life_size(history, neighbour))
            cover(passing, below, index);
    }
    uint32_t next = live_set_has(&passing->live, rank) ? rank
                                                       : jd_live_set_above(&passing->live, rank);
    while (next != LIVE_SET_NONE &&
           history->lives[passing->at_rank[next]].address - life->address < size) {
        cover(passing, next, index);
        next = jd_live_set_above(&passing->live, next);
    }
    passing->at_rank[rank] = index;
    jd_live_set_add(&passing->live, rank);
}

enum history_error jd_lives_read(struct history *history, struct history_event *events,
                                 uint64_t event_count, const struct history_move *moves,
                                 const struct problems *problems)
{
    if (event_count >= HISTORY_NONE)
        return HISTORY_TOO_LARGE;
    if (history->backwards != 0 && event_count > 0)
        qsort(events, (size_t)event_count, sizeof(*events), compare_events);
    history->lives = malloc(((size_t)event_count + 1) * sizeof(*history->lives));
    if (history->lives == NULL ||
        !begin_lives(history, events, event_count, moves, problems))
        return HISTORY_NO_MEMORY;

    struct passing passing;
    const bool ready = passing_init(&passing, history);
    for (uint32_t i = 0; ready && i < history->life_count; i++)
        pass(&passing, i);
    passing_free(&passing);
    return ready ? HISTORY_OK : HISTORY_NO_MEMORY;
}
