/*
 * Ways of writing a jitdump, side by side: two lower limits, the classes that runtimes use
 * today, and this library's flush modes.
 */
#ifndef WRITERS_H
#define WRITERS_H

#include "jitdump.h"

#include <stdbool.h>
#include <stddef.h>

struct writer {
    const char *name;
    /* Makes `directory`/jit-<pid>.dump, with its header. */
    void *(*open)(const char *directory);
    void (*append)(void *state, const struct jitdump_code *code);
    /* Each appending thread's last call. May be NULL. */
    void (*finish_thread)(void *state);
    /* Afterwards all bytes are in the file, which stays. */
    void (*close)(void *state);
    /* Can describe inlined calls. Limits can all; what runtimes use can't. */
    bool inlining;
};

/* The first is limit (a), against which ratios are taken. */
extern const struct writer writers[];
extern const size_t writer_count;

/* To be called for each code before it is appended: limits need to know its bytes. Returns
 * how many it has in a file; makes one in `directory` to see. */
size_t writers_prepare(const char *directory, const struct jitdump_code *code);

/* Ends the program with `what` if `failed`. */
void check(int failed, const char *what);

#endif
