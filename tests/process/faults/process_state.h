/*
 * What a library must leave as it was in the process.
 */
#ifndef JITDUMP_TESTS_PROCESS_STATE_H
#define JITDUMP_TESTS_PROCESS_STATE_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>

struct process_state {
    char descriptors[512];
    char directory[PATH_MAX];
    sigset_t mask, pending;
    struct sigaction actions[NSIG];
    struct rlimit limits[RLIMIT_NLIMITS];
    mode_t umask;
    int cancel_state, cancel_type;
    int threads;
};

void process_state_take(struct process_state *state);

/* What has changed since: the first thing that has, NULL if nothing has. */
const char *process_state_changed(const struct process_state *before);

#endif
