#include "writers/bytes.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 4096 };

bool bytes_grow(struct bytes *bytes, size_t more)
{
    if (bytes->failed)
        return false;
    size_t capacity = bytes->capacity < FIRST_CAPACITY ? FIRST_CAPACITY : bytes->capacity;
    while (capacity - bytes->size < more) {
        if (capacity > SIZE_MAX / 2) {
            bytes->failed = true;
            return false;
        }
        capacity *= 2;
    }
    unsigned char *const data = realloc(bytes->data, capacity);
    if (data == NULL) {
        bytes->failed = true;
        return false;
    }
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

void bytes_free(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){.big_endian = bytes->big_endian};
}
