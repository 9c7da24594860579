/*
 * A profile that perf has compressed (-z) or spread over several files (--threads) as one plain file.
 *
 * Its events are in no order, and the marks of rounds are left out, so that perf sorts them all. Nothing
 * is unpacked here: that is for who has a program for it.
 */
#ifndef JITDUMP_INJECT_PLAIN_PROFILE_H
#define JITDUMP_INJECT_PLAIN_PROFILE_H

#include "reader/perf_data.h"
#include "reader/problem.h"

/* The events of one of the files. */
struct profile_part {
    struct perf_data events; /* the first part's have a header, the others' are jd_events_alone() */
    struct span unpacked;    /* what was compressed among them: events, without header */
};

/* Events alone, which are a file's whole content. */
struct perf_data jd_events_alone(struct span file);

/* Whether something among the events is compressed. What can't be read is left for later. */
bool jd_part_is_compressed(struct profile_part *part);

enum plain_error {
    PLAIN_OK,
    PLAIN_NOT_READABLE, /* see `problem` */
    PLAIN_NOT_WRITTEN   /* see errno */
};

struct plain_problem {
    struct problem problem;
    uint32_t part; /* in which of them */
};

/* Writes what is compressed, as one frame of Zstandard, into the file, which must be empty. */
enum plain_error jd_part_write_frame(int fd, struct profile_part *part, struct problem *problem);

/* Writes the profile into the file, which must be empty. */
enum plain_error jd_plain_profile_write(int fd, struct profile_part *parts, uint32_t count,
                                        struct plain_problem *problem);

#endif
