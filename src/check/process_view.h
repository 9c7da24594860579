/*
 * A profile from the point of view of one process: what was mapped when, and its samples.
 */
#ifndef JITDUMP_CHECK_PROCESS_VIEW_H
#define JITDUMP_CHECK_PROCESS_VIEW_H

#include "reader/life_index.h"
#include "reader/perf_event.h"

struct viewed_mapping {
    uint64_t time;
    uint64_t begin;
    uint64_t end;
    uint64_t offset; /* of the event, in the profile */
    struct span name;
    bool executable;
};

struct viewed_sample {
    uint64_t time;
    uint64_t ip;
    struct span chain;
};

/* How far back the parents of a process are followed, itself included. */
enum { VIEW_ANCESTORS = 16 };

struct viewed_ancestor {
    uint32_t pid;
    uint64_t until; /* its child was forked then; UINT64_MAX: it is the process itself */
};

struct process_view {
    uint32_t pid; /* as the profile has it; 0: the profile does not have the dump */
    /* The event of the dump's own mapping; offset 0: there is none. */
    struct viewed_mapping dump;

    /* The process itself, then those that it was forked from. */
    struct viewed_ancestor ancestors[VIEW_ANCESTORS];
    uint32_t ancestor_count;

    /* The process's, and those of the processes that it was forked from, by time. */
    struct viewed_mapping *mappings;
    uint32_t mapping_count;
    struct indexed_life *places; /* of the mappings; without an end: the last that came is there */
    struct life_index index;

    /* In user mode, by time. */
    struct viewed_sample *samples;
    uint32_t sample_count;

    bool compressed;
    bool stack_copies;
    uint64_t lost;
    struct perf_conversion conversion;
};

enum view_error { VIEW_OK, VIEW_UNREADABLE, VIEW_NO_MEMORY };

/* Of the process whose dump is jit-<dump_pid>.dump. What is named so by several is that of the first. */
enum view_error jd_process_view_read(struct process_view *view, struct perf_data *data,
                                     uint32_t dump_pid);
void jd_process_view_free(struct process_view *view);

/* What was mapped at the address at that time; NULL: nothing is known. */
const struct viewed_mapping *jd_process_view_at(const struct process_view *view, uint64_t time,
                                                uint64_t address);

#endif
