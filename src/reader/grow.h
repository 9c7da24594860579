/*
 * Arrays that grow.
 */
#ifndef JITDUMP_READER_GROW_H
#define JITDUMP_READER_GROW_H

#include <stdint.h>
#include <stdlib.h>

/* The array with place for `needed` elements at least, and the capacity that it has then. NULL: out
 * of memory; the array is as it was. */
static inline void *grow(void *array, uint64_t *capacity, uint64_t needed, size_t element_size)
{
    if (needed <= *capacity)
        return array;
    uint64_t more = *capacity + *capacity / 2;
    if (more < needed)
        more = needed;
    if (more < 16)
        more = 16;
    if (more > SIZE_MAX / element_size)
        return NULL;
    void *const grown = realloc(array, (size_t)more * element_size);
    if (grown != NULL)
        *capacity = more;
    return grown;
}

#endif
