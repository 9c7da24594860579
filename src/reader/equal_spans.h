/*
 * Whether two spans have the same bytes.
 */
#ifndef JITDUMP_READER_EQUAL_SPANS_H
#define JITDUMP_READER_EQUAL_SPANS_H

#include "format/cursor.h"

#include <string.h>

static inline bool spans_are_equal(struct span left, struct span right)
{
    return left.size == right.size &&
           (left.data == right.data || left.size == 0 ||
            memcmp(left.data, right.data, (size_t)left.size) == 0);
}

#endif
