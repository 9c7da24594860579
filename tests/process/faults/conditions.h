/*
 * Faults that the kernel makes itself: limits, a filter of system calls, and files that someone
 * else cuts or removes.
 */
#ifndef JITDUMP_TESTS_CONDITIONS_H
#define JITDUMP_TESTS_CONDITIONS_H

#include <stdbool.h>

enum { CONDITIONS_MAX = 4 };

/* From the end of a step on; of none: from the beginning; "fork": from there on, in the child. */
struct condition {
    char what[16];
    char step[32];
    char call[24]; /* "seccomp": the system call that fails */
    long value;    /* with this errno; of limits and sizes, the number */
    bool holds;
};

/* "what@step:value", or "seccomp@step:value:call". False: it is none. */
bool condition_parse(const char *text, struct condition *condition);

/* Not everything goes together with a sanitizer. */
bool condition_possible(const struct condition *condition);

/* What comes true after the step. `path` is the dump's. */
void condition_after(struct condition *condition, const char *step, const char *path);

/* The limits as they were. */
void conditions_end(void);

#endif
