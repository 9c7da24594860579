/*
 * Where a fuzzer's dumps are, and nothing else.
 */
#ifndef JITDUMP_TESTS_DIRECTORIES_H
#define JITDUMP_TESTS_DIRECTORIES_H

#include <limits.h>

#define DUMPS 2

extern char directories[DUMPS][PATH_MAX - 64];

/* And goes to the one above them; ends the program where that is not possible. They are removed at exit. */
void directories_make(void);

/* Of an input's files, perf maps among them. */
void directories_empty(void);

#endif
