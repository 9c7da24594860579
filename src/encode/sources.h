/*
 * The sources that are embedded in a dump: which paths there are, the text for the children
 * of forks, and the files that stand for them.
 *
 * One thread at a time adds; any number look up meanwhile, without a lock. Nothing is
 * removed before the end, and the n-th source stays the n-th: who looks up among the first n
 * gets the same answer at any later time.
 */
#ifndef JITDUMP_SOURCES_H
#define JITDUMP_SOURCES_H

#include "text.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct source {
    uint32_t number; /* from 0 */
    /* The one of the next number, for those who add; NULL: it is the newest. */
    _Atomic(struct source *) newer;
    /* The file beside the dump, absolute, and the process that made it; NULL: none. */
    char *file;
    uint32_t pid;
    /* A copy of the text, followed by zeros up to `padded_size`, and memory in front of it for the
     * head of its record; NULL: none is kept. */
    unsigned char *head;
    unsigned char *text;
    uint64_t size;
    uint64_t padded_size;
    char path[];
};

/* A hash table that is full up to a half; then there comes a larger one, and this is kept for
 * those who are reading it. */
struct source_table {
    struct source_table *smaller;
    uint32_t mask;
    _Atomic(struct source *) slots[];
};

struct sources {
    _Atomic(struct source_table *) table;
    _Atomic(struct source *) oldest, newest;
    /* The one that is being added, for the child of a fork that comes meanwhile. */
    _Atomic(struct source *) adding;
};

/* Of the path, among the first `count` sources; NULL: there is none. */
const struct source *jd_sources_find(const struct sources *sources, uint32_t count,
                                     struct text path);

/* The sources that there were when the sizes were taken, by which the records name files. */
struct file_names {
    const struct sources *sources; /* NULL: none have files */
    uint32_t count;
};

/* The path under which profilers find the file: that of the one that stands for it, or its own. */
struct text jd_file_name(const struct file_names *names, struct text file);

/* The oldest, for those who add, and from there on the next; NULL: there is no more. */
static inline struct source *sources_oldest(const struct sources *sources)
{
    /* Relaxed, as the next: who adds holds a lock. */
    return atomic_load_explicit(&sources->oldest, memory_order_relaxed);
}

static inline struct source *sources_next(const struct source *source)
{
    return atomic_load_explicit(&source->newer, memory_order_relaxed);
}

static inline uint32_t sources_count(const struct sources *sources)
{
    /* Acquire pairs with the release in publish(): all up to this are in the table. */
    const struct source *newest = atomic_load_explicit(&sources->newest, memory_order_acquire);
    return newest != NULL ? newest->number + 1 : 0;
}

/* Adds `source`, whose path is new; it is then the list's. False: out of memory. */
bool jd_sources_add(struct sources *sources, struct source *source);

/* In the child of a fork: ends what another thread of the parent was about. */
void jd_sources_after_fork(struct sources *sources);

void jd_source_free(struct source *source);

/* Removes the files of process `unlink_pid` (0: none). */
void jd_sources_free(struct sources *sources, uint32_t unlink_pid);

#pragma GCC visibility pop

#endif
