/*
 * GSYM's FunctionInfo: a function's size and name, its lines and its tree of inlined calls.
 *
 *     u32 size, string name, then items {u32 type, u32 length, data}, closed by one of type 0
 *
 * A string is an offset in the table of strings: four bytes in version 1, eight in version 2. The rest is
 * alike in both.
 */
#ifndef JITDUMP_WRITERS_GSYM_FUNCTION_H
#define JITDUMP_WRITERS_GSYM_FUNCTION_H

#include "writers/described_texts.h"

struct gsym_functions {
    struct bytes bytes; /* one behind the other, each at a multiple of four */
    /* Files have the numbers that GSYM gives them, where 0 is none. */
    struct described_texts texts;
    unsigned string_size;
    uint64_t described; /* functions with lines */
};

void gsym_functions_init(struct gsym_functions *functions, unsigned string_size, bool big_endian);
void gsym_functions_free(struct gsym_functions *functions);

/* A function called `name`, of `size` bytes of code, at least one. Returns where it is in `bytes`. Out of
 * memory is noted there and in `texts`. */
size_t gsym_functions_add(struct gsym_functions *functions, struct span name, uint32_t size,
                          const struct description *description);

#endif
