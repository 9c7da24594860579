/*
 * What the tests of a process's life have in common: a small dump, and a look at files and at the
 * process.
 */
#ifndef JITDUMP_TESTS_LIFE_H
#define JITDUMP_TESTS_LIFE_H

#include "../unit/child.h"

#include "jitdump.h"

#include <stdbool.h>

#define MODES 3

/* enum jitdump_flush_mode */
extern const uint32_t modes[MODES];

/* In `directory`, with an interval so long that nothing is written because of it. NULL if it
 * fails. */
struct jitdump *life_open(uint32_t flush_mode, uint32_t flags);

/* A function of that name, with a line. Returns what jitdump_load() does. */
int life_load(struct jitdump *dump, const char *name);

/* How often a function of exactly that name is in the process's dump in `directory`, which must be
 * whole records from its first to its last byte; -1: there is no dump. */
int count_loads(pid_t pid, const char *name);

/* Whether it ends with JIT_CODE_CLOSE. */
bool is_closed(pid_t pid);

/* Zeros that children share. */
void *mmap_shared(size_t size);

/* Leaves the test, if a sanitizer's locks may be held in a child by a thread that was at work in its
 * parent. Where the threads are the library's alone, rest_before_fork() is enough. */
void skip_where_parents_cannot_have_threads(void);

/* Until the process has so many threads of the library: one that has been joined is still in
 * /proc for a moment. */
void wait_for_flushers(int count);

#endif
