/*
 * What a profile says of its processes: what was mapped where and when, who was forked from whom, what they
 * were called, and which of the files were dumps.
 *
 * Names point into the profile.
 */
#ifndef JITDUMP_INJECT_PROFILE_SCAN_H
#define JITDUMP_INJECT_PROFILE_SCAN_H

#include "inject/forks.h"
#include "inject/ranges.h"
#include "reader/equal_spans.h"
#include "reader/perf_event.h"

/* How far back the parents of a process are followed. */
enum { SCAN_ANCESTORS = 16 };

struct scanned_mapping {
    uint64_t time;   /* 0: it was there before the recording */
    uint64_t begin;
    uint64_t end;
    uint64_t offset; /* of the event, in the profile */
    uint32_t pid;
    bool of_file; /* else of memory without one, or made by perf inject */
    bool executable;
    struct perf_file_id file;
    bool of_code; /* it, or another mapping of its file in the process, is executable */
    struct span name;
};

/* What a process calls itself, or is called by a program that it executes. */
struct scanned_name {
    uint64_t time; /* 0: it was so before the recording */
    uint32_t pid;
    bool executes;
    struct span name;
};

struct profile_scan {
    struct scanned_mapping *mappings; /* in file order */
    uint64_t mapping_count;
    uint64_t mapping_capacity;
    struct scanned_mapping **by_file; /* the same; those of a process together, and in it those of one name */
    struct forks forks; /* of processes */

    struct scanned_name *names; /* of processes, not of their other threads; in file order */
    uint64_t name_count;
    uint64_t name_capacity;

    /* The mappings of dumps: one for each process and dump. */
    struct scanned_mapping *dumps;
    uint64_t dump_count;
    uint64_t dump_capacity;

    bool stack_copies; /* for --call-graph dwarf */
    bool has_times;
    struct perf_conversion conversion;
};

enum scan_error { SCAN_OK, SCAN_UNREADABLE, SCAN_NO_MEMORY };

/* `data` has been read by jd_perf_data_init(). If it is unreadable, data->reason and data->offset say
 * why. To be freed in any case. */
enum scan_error jd_profile_scan(struct profile_scan *scan, struct perf_data *data);
void jd_profile_scan_free(struct profile_scan *scan);

/* The number N in jit-N.dump; 0: the name is another. */
uint32_t jd_scan_dump_pid(struct span name);

static inline bool of_one_file(const struct scanned_mapping *a, const struct scanned_mapping *b)
{
    return a->pid == b->pid && spans_are_equal(a->name, b->name);
}

/* The mappings of a process: `count` pointers, of one file behind each other and in file order. */
struct scanned_mapping *const *jd_scan_mappings(const struct profile_scan *scan, uint32_t pid,
                                                uint64_t *count);

/* Whether the process is `ancestor`, or was forked from it, or from one that was. */
bool jd_scan_descends(const struct profile_scan *scan, uint32_t pid, uint32_t ancestor);

/* OCCUPIED_BY_CODE: what is executable, and the other parts of such a file, of which perf reads unwinding
 * data. The rest is data, and files that have been read, where no sample ever is.
 * OCCUPIED_BY_OBJECTS: of these, what has a file, and is no dump. */
enum scan_occupied { OCCUPIED_BY_FILES, OCCUPIED_BY_CODE, OCCUPIED_BY_OBJECTS };

/* Adds what was mapped in the process, also before it was forked. False: out of memory. */
bool jd_scan_occupied(const struct profile_scan *scan, uint32_t pid, enum scan_occupied by,
                      struct ranges *occupied);

#endif
