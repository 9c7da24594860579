/*
 * The function that the benchmark appends.
 */
#ifndef CODE_H
#define CODE_H

#include "jitdump.h"

#include <stddef.h>

enum description {
    DESCRIPTION_NONE, /* name and code only */
    DESCRIPTION_LINES,
    DESCRIPTION_INLINING, /* lines too */
    DESCRIPTIONS
};
extern const char *const description_names[DESCRIPTIONS];

/* Lives until it is freed, with all that it points to. */
struct jitdump_code *code_make(size_t size, enum description description);
void code_free(struct jitdump_code *code);

#endif
