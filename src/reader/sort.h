/*
 * Arrays that are in order already, most often: by time or by address, as JITs load code.
 */
#ifndef JITDUMP_READER_SORT_H
#define JITDUMP_READER_SORT_H

#include <stdint.h>
#include <stdlib.h>

/* As qsort(), which copies what is in order, too. The array may be NULL if it has no elements. */
static inline void sort(void *array, uint64_t count, size_t size,
                        int (*compare)(const void *left, const void *right))
{
    const char *const elements = array;
    for (uint64_t i = 1; i < count; i++) {
        if (compare(elements + (size_t)(i - 1) * size, elements + (size_t)i * size) > 0) {
            qsort(array, (size_t)count, size, compare);
            return;
        }
    }
}

#endif
