/*
 * What is in an event of a profile: the process's mappings, forks, and the samples.
 *
 * Each function returns true if the event is what it says; else the reason is in `problem`, and nothing
 * of the result may be used. Strings and arrays point into the file, at any alignment.
 */
#ifndef JITDUMP_READER_PERF_EVENT_H
#define JITDUMP_READER_PERF_EVENT_H

#include "reader/perf_data.h"
#include "reader/problem.h"

/* Who and when, of any event; what was not recorded is 0, a time that was not UINT64_MAX. */
struct perf_event_stamp {
    uint32_t pid;
    uint32_t tid;
    uint64_t time;
};

/* What a file was, whatever it was called. `inode` 0: it was not recorded. */
struct perf_file_id {
    uint32_t major;
    uint32_t minor;
    uint64_t inode;
};

/* PERF_EVENT_MMAP and PERF_EVENT_MMAP2. */
struct perf_mapping {
    uint32_t pid;
    uint32_t tid;
    uint64_t address;
    uint64_t size;
    uint64_t file_offset;
    bool executable;
    struct perf_file_id file;
    struct span name;
    struct perf_event_stamp stamp;
};

/* PERF_EVENT_FORK and PERF_EVENT_EXIT: `pid` other than `parent_pid` is a process, else a thread. */
struct perf_task {
    uint32_t pid;
    uint32_t parent_pid;
    uint32_t tid;
    uint32_t parent_tid;
    struct perf_event_stamp stamp;
};

struct perf_sample {
    uint64_t ip; /* 0: not recorded */
    struct perf_event_stamp stamp;
    bool user; /* the processor was in user mode */
    /* Call chain: 8 bytes each, marks (PERF_CONTEXT_MAX) among them. */
    struct span chain;
    /* For --call-graph dwarf: 8 bytes for each register, and a copy of the stack from its pointer on. */
    struct span registers;
    struct span stack;
    bool has_stack;
};

/* PERF_EVENT_TIME_CONV: what TSC times are in the profile's clock. */
struct perf_conversion {
    bool known; /* else there is no such event, or none that can be used */
    uint64_t shift, mult, zero;
};

struct perf_conversion jd_perf_conversion(const struct perf_data *data,
                                          const struct perf_event *event);

/* As the kernel says it is to be done. */
uint64_t jd_perf_convert(const struct perf_conversion *conversion, uint64_t cycles);

/* Whether perf takes a mapping of this name for memory of no file, and drops it where a dump has code
 * (P17). */
bool jd_perf_is_anonymous(struct span name);

/* Whether perf takes names of code there from a perf map, if there is one. Not for a memfd, nor for memory
 * that was given a name: [anon:...]. */
bool jd_perf_has_perf_map(struct span name);

/* When it happened; UINT64_MAX: it has no time, or one that can't be read. */
uint64_t jd_perf_event_time(const struct perf_data *data, const struct perf_event *event);

bool jd_perf_mapping(const struct perf_data *data, const struct perf_event *event,
                     struct perf_mapping *mapping, struct problem *problem);
bool jd_perf_task(const struct perf_data *data, const struct perf_event *event,
                  struct perf_task *task, struct problem *problem);
/* The user's part of the chains of samples before it, which have a mark in its place (Linux 6.19). Of the
 * result chain and stamp are set. */
bool jd_perf_deferred_chain(const struct perf_data *data, const struct perf_event *event,
                            struct perf_sample *sample, struct problem *problem);
bool jd_perf_sample(const struct perf_data *data, const struct perf_event *event,
                    struct perf_sample *sample, struct problem *problem);

#endif
