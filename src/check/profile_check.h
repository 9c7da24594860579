/*
 * What is wrong with a profile as far as a dump's process goes, and how much of it is named.
 *
 * It is told what perf could show, not what some perf did show: a sample is named if a function lay at
 * its address at its time, and nothing was mapped over it.
 */
#ifndef JITDUMP_CHECK_PROFILE_CHECK_H
#define JITDUMP_CHECK_PROFILE_CHECK_H

#include "check/finding.h"
#include "reader/history.h"
#include "reader/perf_event.h"

struct profile_shares {
    /* The process, as the profile has it; 0: it does not have it. */
    uint32_t pid;
    /* Nothing was looked at. */
    bool compressed;
    /* All of its samples in user mode, and those of them in generated code: the sum of the
     * others down to never_described, but with_line. */
    uint64_t samples;
    uint64_t generated;
    uint64_t named;
    uint64_t with_line; /* of those named */
    uint64_t hidden;
    uint64_t before_load;
    uint64_t after_life;
    uint64_t between;
    uint64_t never_described;
    /* Of the samples named, those with a call chain by frame pointers, and those of which each frame
     * is known and the outermost is in a file. With copies of the stack it is perf that unwinds. */
    uint64_t chains;
    uint64_t whole_chains;
    /* Samples outside of generated code that a function in the dump has called, over whatever else;
     * by frame pointers too. */
    uint64_t below;
    bool stack_copies;
    /* By piece of the process's own dump: samples that are named. To be freed with free(). */
    uint32_t *of_piece;
};

/* The dump of a process that the one to be checked may have been forked from. */
struct inherited_code {
    const struct history *history;
    uint32_t pid; /* as the profile has it */
    /* As profile_shares.of_piece; NULL: it was not forked from that. */
    uint32_t *of_piece;
};

enum profile_check {
    PROFILE_CHECKED,
    PROFILE_UNREADABLE, /* see data->reason and data->offset: findings are those up to there */
    PROFILE_NO_MEMORY
};

/* `data` has been read by jd_perf_data_init(). What the process has from those it was forked from counts
 * as its own code does; each of `inherited` has of_piece NULL and another pid. A process without a
 * dump has a history without pieces, with its pid in reader.header. */
enum profile_check jd_check_profile(struct findings *findings, struct profile_shares *shares,
                                    const struct history *history,
                                    struct inherited_code *inherited, uint32_t inherited_count,
                                    struct perf_data *data);

#endif
