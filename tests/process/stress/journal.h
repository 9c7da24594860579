/*
 * What the stress program knows about its appends, in a file `journal-<pid>` that is mapped
 * shared: each store is outside of the process at once and survives its death, without a
 * system call that would slow the appends down. journal.py reads it: change both.
 */
#ifndef JITDUMP_TESTS_JOURNAL_H
#define JITDUMP_TESTS_JOURNAL_H

#include <stdatomic.h>
#include <stdint.h>

struct journal_thread {
    /* How many of its appends have returned 0. */
    _Atomic uint64_t returned;
    /* How many of those had returned before some thread called a jitdump_flush() that
     * returned 0. */
    _Atomic uint64_t flushed;
    /* The error that ended its appends, or 0. */
    _Atomic int64_t error;
    uint64_t padding[5];
};

struct journal {
    /* Set last: JOURNAL_MAGIC. */
    _Atomic uint64_t magic;
    uint64_t seed;
    uint64_t code_size_max;
    uint64_t thread_count;
    /* Appends that each thread is to make. */
    uint64_t operations;
    /* What jitdump_flush_from_signal() and jitdump_close() returned last. */
    _Atomic int64_t signal_result;
    _Atomic int64_t close_result;
    uint64_t padding;
    struct journal_thread threads[];
    /* Then, for each thread, `operations` times uint64_t: the code indices returned. */
};

#define JOURNAL_MAGIC UINT64_C(0x6a6f75726e616c31)

/* Makes the journal of this process. Exits if it can't. */
struct journal *journal_create(const char *directory, uint64_t seed, uint64_t code_size_max,
                               uint64_t thread_count, uint64_t operations);

/* The file stays. */
void journal_unmap(struct journal *journal);

/* The append of that number has returned 0 and the index. To be called in order. */
void journal_returned(struct journal *journal, uint64_t thread, uint64_t sequence,
                      uint64_t code_index);

/* How many appends of each thread have returned. */
void journal_snapshot(const struct journal *journal, uint64_t *returned);

/* A flush has returned 0 that was called after the snapshot. */
void journal_flushed(struct journal *journal, const uint64_t *snapshot);

#endif
