/*
 * What is there before a file is made: if that fails, nothing more may be there afterwards.
 */
#ifndef JITDUMP_TESTS_MAKING_H
#define JITDUMP_TESTS_MAKING_H

#include "faults.h"
#include "process_state.h"

struct making {
    struct process_state state;
    struct held held;
    const char *directory;
    bool there[2]; /* dump and perf map */
};

void making_begins(struct making *making, const char *directory);

/* Reports what has stayed. `unmapped`: bytes that were to be unmapped all the same. */
void making_failed(const struct making *making, size_t unmapped);

/* What the error's message must say. */
void making_check_message(int error, const char *message, const char *place);

#endif
