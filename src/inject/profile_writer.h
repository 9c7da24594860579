/*
 * Writes a profile anew, with mappings of files put in where their time belongs.
 *
 * Each goes in front of the first event whose time is not earlier. What lies around the events is copied,
 * with its places corrected.
 */
#ifndef JITDUMP_INJECT_PROFILE_WRITER_H
#define JITDUMP_INJECT_PROFILE_WRITER_H

#include "reader/perf_data.h"

struct profile_mapping {
    uint64_t time; /* the profile's */
    uint64_t order; /* of those of equal times */
    uint64_t address;
    uint64_t size;
    uint64_t file_offset;
    uint32_t pid;
    const char *path; /* below 4096 bytes */
};

enum profile_write_error {
    PROFILE_WRITTEN,
    PROFILE_NOT_READABLE, /* see data->reason and data->offset */
    PROFILE_NOT_WRITTEN,  /* see errno */
};

/* Writes into the file, which must be empty. The mappings ascend by time and order. `dropped`: `dropped_count`
 * offsets of events that are left out, ascending. */
enum profile_write_error jd_profile_write(int fd, struct perf_data *data,
                                          const struct profile_mapping *mappings,
                                          uint64_t mapping_count, const uint64_t *dropped,
                                          uint64_t dropped_count);

#endif
