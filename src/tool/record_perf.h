/*
 * perf record as a child: how it is started, stopped and understood.
 */
#ifndef JITDUMP_TOOL_RECORD_PERF_H
#define JITDUMP_TOOL_RECORD_PERF_H

#include "tool/record_environment.h"

#include <stdbool.h>

struct recording {
    const char *profile;     /* what perf is to write */
    const char *directory;   /* where the command's dumps go, absolute */
    char *const *options;    /* the user's, for perf */
    int option_count;
    char *const *command;    /* ends with NULL; NULL: none, perf attaches itself */
    bool has_period;         /* the user's options say how often */
    enum collector_use collector; /* for the command */
};

enum recording_end {
    RECORDING_ENDED,       /* perf has ended as it does */
    RECORDING_NO_COMMAND,  /* the command could not be started, which has been complained about */
    RECORDING_NO_PERF,     /* perf could not be started, which has been complained about */
    RECORDING_REFUSED      /* perf has ended before the command began, or, without one, before it wrote anything */
};

/* Runs it to its end. `status` is what a shell would have of the command, or, without one, of perf. */
enum recording_end record_by_perf(const struct recording *recording, int *status);

/* The first argument of this program then. */
#define RECORD_BECOME_COMMAND "--become-command"

/* What perf is told to run in the command's place: makes the environment, and becomes the command.
 * `argv`: descriptor, directory, enum collector_use, command. Returns only if that can't be. */
int record_become_command(char **argv);

/* On standard error: why perf may have been refused, and what helps. */
void record_explain_refusal(void);

#endif
