#include "check/known_code.h"

#include "reader/sort.h"

#include <stdlib.h>

static int by_address(const void *left, const void *right)
{
    const struct life *const a = *(const struct life *const *)left;
    const struct life *const b = *(const struct life *const *)right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

bool jd_known_code_init(struct known_code *code, const struct history *history)
{
    const size_t room = history->life_count + (size_t)1;
    *code = (struct known_code){.history = history,
                                .lives = malloc(room * sizeof(*code->lives)),
                                .highest_end = malloc(room * sizeof(*code->highest_end)),
                                .of_piece = calloc(history->piece_count + (size_t)1,
                                                   sizeof(*code->of_piece))};
    if (code->lives == NULL || code->highest_end == NULL || code->of_piece == NULL)
        return false;
    for (uint32_t i = 0; i < history->life_count; i++)
        code->lives[i] = &history->lives[i];
    sort(code->lives, history->life_count, sizeof(*code->lives), by_address);
    uint64_t highest = 0;
    for (uint32_t i = 0; i < history->life_count; i++) {
        const uint64_t end = code->lives[i]->address + life_size(history, code->lives[i]);
        highest = end > highest ? end : highest;
        code->highest_end[i] = highest;
    }
    return true;
}

void jd_known_code_free(struct known_code *code)
{
    free(code->lives);
    free(code->highest_end);
    code->lives = NULL;
    code->highest_end = NULL;
}

uint64_t jd_known_time(const struct known_times *times, uint64_t time)
{
    if (time == UINT64_MAX)
        return time;
    return times->conversion.known ? jd_perf_convert(&times->conversion, time)
                                   : time + times->shift;
}

/* How many lives begin at an address below this one. */
static uint32_t count_below(const struct known_code *code, uint64_t address)
{
    uint32_t low = 0, high = code->history->life_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (code->lives[middle]->address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool jd_known_code_in(const struct known_code *code, uint64_t begin, uint64_t end)
{
    return count_below(code, begin) < count_below(code, end);
}

const struct life *jd_known_code_at(const struct known_code *code, uint64_t address, uint64_t time,
                                    const struct life **other)
{
    const struct known_times *const times = &code->times;
    uint32_t index = address != UINT64_MAX ? count_below(code, address + 1) : code->history->life_count;
    if (time > code->until)
        time = code->until;
    uint64_t nearest = UINT64_MAX;
    *other = NULL;
    while (index > 0 && code->highest_end[index - 1] > address) {
        const struct life *const life = code->lives[--index];
        if (address - life->address >= life_size(code->history, life))
            continue;
        const uint64_t begin = jd_known_time(times, life->begin);
        const uint64_t end = jd_known_time(times, life->end);
        if (!times->comparable || (begin <= time && time < end))
            return life;
        const uint64_t distance = time < begin ? begin - time : time - end;
        if (distance < nearest) {
            nearest = distance;
            *other = life;
        }
    }
    if (*other != NULL && time < jd_known_time(times, (*other)->begin) && nearest <= times->tolerance)
        return *other;
    return NULL;
}
