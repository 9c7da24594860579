/*
 * What the stress program appends. Each operation follows from a seed, the thread's number
 * and the operation's number alone, so that workload.py, which repeats this in Python, knows
 * what must be in the file: change both.
 *
 * An operation is one append: a function (often with lines, sometimes with unwinding data),
 * the move of the function that the thread loaded just before, or a raw record.
 */
#ifndef JITDUMP_TESTS_WORKLOAD_H
#define JITDUMP_TESTS_WORKLOAD_H

#include "jitdump.h"

#include <stdint.h>

/* The default size of the largest function. */
#define WORKLOAD_CODE_SIZE_MAX 200000

struct workload {
    uint64_t seed;
    uint64_t code_size_max;
};

/* One thread's share. Zero but for the two first. */
struct workload_thread {
    const struct workload *workload;
    uint32_t number;
    /* Of its last load. */
    uint64_t code_index;
    /* What its operations have added to the file. */
    uint64_t file_bytes;
};

/* To be called once, before anything else. */
void workload_init(void);

/* Appends operation `sequence`, which goes up by one from 0; `code_index` receives that of
 * a function, 0 for other records. Returns what the library did. */
int workload_append(struct workload_thread *thread, struct jitdump *dump, uint64_t sequence,
                    uint64_t *code_index);

#endif
