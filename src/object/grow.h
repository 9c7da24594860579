/*
 * Arrays that grow as they are filled.
 */
#ifndef JITDUMP_OBJECT_GROW_H
#define JITDUMP_OBJECT_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Makes room for one element more behind `count`. False: out of memory, and the array is as it was. */
static inline bool grow(void **array, size_t *capacity, size_t count, size_t element_size)
{
    if (count < *capacity)
        return true;
    const size_t more = *capacity != 0 ? 2 * *capacity : 16;
    if (more > (size_t)-1 / element_size)
        return false;
    void *const larger = realloc(*array, more * element_size);
    if (larger == NULL)
        return false;
    *array = larger;
    *capacity = more;
    return true;
}

#endif
