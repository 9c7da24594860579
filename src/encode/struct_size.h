/*
 * Structs that begin with their own size. Those of other versions are taken by the rule of the
 * kernel's copy_struct_from_user(): what a smaller one lacks is zero, and what a larger one has
 * more must be zero.
 */
#ifndef JITDUMP_STRUCT_SIZE_H
#define JITDUMP_STRUCT_SIZE_H

#include "jitdump.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* The part of version 0.1 that must be there. In jitdump.h these are named by their last field. */
#define STRUCT_SIZE_UP_TO(type, field) (offsetof(type, field) + sizeof(((type *)NULL)->field))
#define OPTIONS_SIZE_MIN STRUCT_SIZE_UP_TO(struct jitdump_options, dialect)
#define CODE_SIZE_MIN STRUCT_SIZE_UP_TO(struct jitdump_code, code_bytes)
#define UNWIND_SIZE_MIN STRUCT_SIZE_UP_TO(struct jitdump_unwind, frame)
#define TRACK_SIZE_MIN STRUCT_SIZE_UP_TO(struct jitdump_track, offset_count)

/* Could a struct of any version, with at least the part that must be there, have this size? */
bool jd_struct_size_is_sound(uint32_t size, size_t minimum);

/* The same as struct_known(), of a struct whose size is not `known_size`. */
const void *jd_struct_known(const void *given, void *copy, size_t known_size, size_t minimum);

/*
 * The struct as this version knows it, of which `known_size` bytes can be read: the caller's own,
 * or `copy`, if that is too short. NULL: JITDUMP_ERROR_STRUCT_SIZE.
 */
static inline const void *struct_known(const void *given, void *copy, size_t known_size,
                                       size_t minimum)
{
    return *(const uint32_t *)given == known_size
               ? given
               : jd_struct_known(given, copy, known_size, minimum);
}

#pragma GCC visibility pop

#endif
