/*
 * A fuzzer's bytes as the options of a dump.
 */
#ifndef JITDUMP_TESTS_OPTIONS_H
#define JITDUMP_TESTS_OPTIONS_H

#include "describe.h"

/* All but the directory and the message; `strings` owns what they point to. */
struct jitdump_options take_options(struct input *input, struct description *strings);

/* `usual` in most cases, else one that is none, or NULL. */
const char *take_directory(struct input *input, const char *usual);

#endif
