/*
 * Arrays of numbers: times, addresses, offsets.
 */
#ifndef JITDUMP_READER_NUMBERS_H
#define JITDUMP_READER_NUMBERS_H

#include "reader/sort.h"

static inline int numbers_compare(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static inline void numbers_sort(uint64_t *numbers, uint64_t count)
{
    sort(numbers, count, sizeof(*numbers), numbers_compare);
}

/* Of ascending numbers keeps each once, and returns how many there are then. */
static inline uint64_t numbers_keep_once(uint64_t *numbers, uint64_t count)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++)
        if (kept == 0 || numbers[i] != numbers[kept - 1])
            numbers[kept++] = numbers[i];
    return kept;
}

/* How many of ascending numbers are `last` or below. */
static inline uint32_t numbers_until(const uint64_t *numbers, uint32_t count, uint64_t last)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (numbers[middle] <= last)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
