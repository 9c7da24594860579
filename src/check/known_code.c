#include "check/known_code.h"

#include "reader/numbers.h"

#include <stdlib.h>

bool jd_known_code_init(struct known_code *code)
{
    const struct history *const history = code->history;
    const struct known_times *const times = &code->times;
    const size_t room = history->life_count + (size_t)1;
    code->places = malloc(room * sizeof(*code->places));
    code->addresses = malloc(room * sizeof(*code->addresses));
    code->of_piece = calloc(history->piece_count + (size_t)1, sizeof(*code->of_piece));
    if (code->places == NULL || code->addresses == NULL || code->of_piece == NULL)
        return false;
    for (uint32_t i = 0; i < history->life_count; i++) {
        const struct life *const life = &history->lives[i];
        code->addresses[i] = life->address;
        code->places[i] = (struct indexed_life){
            .address = life->address,
            .end = life->address + life_size(history, life),
            .from = times->comparable ? jd_known_time(times, life->begin) : 0,
            .until = times->comparable ? jd_known_time(times, life->end) : UINT64_MAX};
    }
    numbers_sort(code->addresses, history->life_count);
    return jd_life_index_init(&code->index, code->places, history->life_count);
}

void jd_known_code_free(struct known_code *code)
{
    jd_life_index_free(&code->index);
    free(code->places);
    free(code->addresses);
    code->places = NULL;
    code->addresses = NULL;
}

uint64_t jd_known_time(const struct known_times *times, uint64_t time)
{
    if (time == UINT64_MAX)
        return time;
    return times->conversion.known ? jd_perf_convert(&times->conversion, time)
                                   : time + times->shift;
}

bool jd_known_code_in(const struct known_code *code, uint64_t begin, uint64_t end)
{
    const uint32_t count = code->history->life_count;
    const uint32_t first = begin != 0 ? numbers_until(code->addresses, count, begin - 1) : 0;
    return first < count && code->addresses[first] < end;
}

const struct life *jd_known_code_at(const struct known_code *code, uint64_t address, uint64_t time,
                                    const struct life **other)
{
    const struct life *const lives = code->history->lives;
    const uint32_t leaf = jd_life_index_leaf(&code->index, address);
    if (time > code->until)
        time = code->until;
    *other = NULL;
    const uint32_t last = jd_life_index_last(&code->index, leaf, time);
    if (last != UINT32_MAX && time < code->places[last].until)
        return &lives[last];
    const uint64_t since = last != UINT32_MAX ? time - code->places[last].until : UINT64_MAX;
    const uint32_t next = jd_life_index_next(&code->index, leaf, time);
    const uint64_t before = next != UINT32_MAX ? code->places[next].from - time : UINT64_MAX;
    if (next != UINT32_MAX && before <= since) {
        *other = &lives[next];
        return before <= code->times.tolerance ? *other : NULL;
    }
    if (last != UINT32_MAX)
        *other = &lives[last];
    return NULL;
}
