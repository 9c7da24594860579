/*
 * The processes of a profile, and the dumps that they have mapped.
 */
#ifndef JITDUMP_TOOL_RECORD_PROCESSES_H
#define JITDUMP_TOOL_RECORD_PROCESSES_H

#include "reader/perf_event.h"

struct record_process {
    uint32_t pid, parent; /* parent 0: not known */
    uint64_t samples;     /* in user mode */
    struct span dump;     /* the path of its dump; NULL: it has mapped none */
};

struct record_processes {
    struct record_process *list; /* by pid */
    size_t count;
    uint64_t samples; /* of all, in the kernel too */
};

/* False: out of memory, or what can't be read is in the profile, as far as which it was read. */
bool record_processes_read(struct record_processes *processes, struct perf_data *data);
void record_processes_free(struct record_processes *processes);

/* Whether it, or one that it was forked from, has a dump. */
bool record_process_has_dump(const struct record_processes *processes,
                             const struct record_process *process);

#endif
