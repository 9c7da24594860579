/*
 * A fuzzer's bytes as what a user says in $JITDUMP, and what that means.
 */
#ifndef JITDUMP_TESTS_ASKED_H
#define JITDUMP_TESTS_ASKED_H

#include "input.h"
#include "jitdump.h"

#include <limits.h>

#define ASKED_SIZE (2 * PATH_MAX)

enum asked {
    ASKED_NOTHING,
    ASKED_WRONGLY,
    ASKED_DUMP, /* with `options`, which were the defaults before */
};

/* `directory` is what `dir=` may say. */
enum asked take_asked(struct input *input, const char *directory, char text[ASKED_SIZE],
                      struct jitdump_options *options);

#endif
