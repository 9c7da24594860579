#include "inject/ranges.h"

#include "reader/grow.h"
#include "reader/sort.h"

#include <string.h>

void jd_ranges_free(struct ranges *ranges)
{
    free(ranges->ranges);
    *ranges = (struct ranges){0};
}

bool jd_ranges_add(struct ranges *ranges, uint64_t begin, uint64_t end)
{
    if (begin >= end)
        return true;
    struct range *const grown = grow(ranges->ranges, &ranges->capacity, ranges->count + 1,
                                     sizeof(*ranges->ranges));
    if (grown == NULL)
        return false;
    ranges->ranges = grown;
    ranges->ranges[ranges->count++] = (struct range){begin, end};
    ranges->settled = false;
    return true;
}

static int by_begin(const void *left, const void *right)
{
    const struct range *const a = left, *const b = right;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static void settle(struct ranges *ranges)
{
    if (ranges->settled || ranges->count == 0)
        return;
    sort(ranges->ranges, ranges->count, sizeof(*ranges->ranges), by_begin);
    uint64_t kept = 0;
    for (uint64_t i = 1; i < ranges->count; i++) {
        struct range *const last = &ranges->ranges[kept];
        const struct range next = ranges->ranges[i];
        if (next.begin > last->end)
            ranges->ranges[++kept] = next;
        else if (next.end > last->end)
            last->end = next.end;
    }
    ranges->count = kept + 1;
    ranges->settled = true;
}

/* How many begin before the address. */
static uint64_t count_before(const struct ranges *ranges, uint64_t address)
{
    uint64_t low = 0, high = ranges->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (ranges->ranges[middle].begin < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool jd_ranges_overlap(struct ranges *ranges, uint64_t begin, uint64_t end)
{
    settle(ranges);
    const uint64_t before = count_before(ranges, end);
    return begin < end && before > 0 && ranges->ranges[before - 1].end > begin;
}

/* Makes begin to end, which lies right behind `before` of the ranges and in none, part of the set, which
 * stays in order: the next hole is found without another sort. */
static bool take(struct ranges *ranges, uint64_t before, uint64_t begin, uint64_t end)
{
    const bool joins_next = before < ranges->count && ranges->ranges[before].begin == end;
    const bool joins_last = before > 0 && ranges->ranges[before - 1].end == begin;
    if (joins_next) {
        ranges->ranges[before].begin = begin;
        return true; /* that the two are now one, or would be with the last, harms nothing */
    }
    if (joins_last) {
        ranges->ranges[before - 1].end = end;
        return true;
    }
    if (!jd_ranges_add(ranges, begin, end))
        return false;
    memmove(ranges->ranges + before + 1, ranges->ranges + before,
            (size_t)(ranges->count - 1 - before) * sizeof(*ranges->ranges));
    ranges->ranges[before] = (struct range){begin, end};
    ranges->settled = true;
    return true;
}

uint64_t jd_ranges_take_hole(struct ranges *ranges, uint64_t lowest, uint64_t end, uint64_t size,
                             uint64_t alignment)
{
    settle(ranges);
    uint64_t before = count_before(ranges, end);
    for (;;) {
        const uint64_t begin = before > 0 ? ranges->ranges[before - 1].end : 0;
        if (end >= size && end - size >= lowest) {
            const uint64_t place = (end - size) / alignment * alignment;
            if (place >= begin && place >= lowest)
                return take(ranges, before, place, end) ? place : 0;
        }
        if (before == 0 || end < lowest)
            return 0;
        if (ranges->ranges[before - 1].begin < end)
            end = ranges->ranges[before - 1].begin;
        before--;
    }
}
