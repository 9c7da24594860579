#include "../platform/c_library.h"

#include "struct_size.h"

#include <string.h>

/* A number above this is no size, but memory that nobody has initialised. */
#define SIZE_MAX_OF_STRUCTS 4096

bool jd_struct_size_is_sound(uint32_t size, size_t minimum)
{
    return size >= minimum && size <= SIZE_MAX_OF_STRUCTS && size % sizeof(void *) == 0;
}

const void *jd_struct_known(const void *given, void *copy, size_t known_size, size_t minimum)
{
    const uint32_t size = *(const uint32_t *)given;
    if (!jd_struct_size_is_sound(size, minimum))
        return NULL;
    if (size < known_size) {
        memcpy(copy, given, size);
        memset((unsigned char *)copy + size, 0, known_size - size);
        return copy;
    }
    const unsigned char *bytes = given;
    for (size_t i = known_size; i < size; i++)
        if (bytes[i] != 0)
            return NULL;
    return given;
}
