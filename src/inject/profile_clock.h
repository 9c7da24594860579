/*
 * A dump's times as times of a profile.
 */
#ifndef JITDUMP_INJECT_PROFILE_CLOCK_H
#define JITDUMP_INJECT_PROFILE_CLOCK_H

#include "inject/profile_scan.h"
#include "reader/history.h"

struct profile_clock {
    enum clock_kind {
        CLOCK_SAME,      /* both are CLOCK_MONOTONIC */
        CLOCK_CONVERTED, /* TSC, by what the profile says of it */
        CLOCK_INFERRED,  /* by `shift`, some microseconds too large, milliseconds on a busy machine */
        CLOCK_ROUGH,     /* as above, by a first record that is later than the dump's opening */
        CLOCK_UNKNOWN    /* all of the dump's times are before the profile */
    } kind;
    uint64_t shift; /* to be added, modulo 2^64 */
    struct perf_conversion conversion;
};

/* `mapping` is the dump's own in the profile. */
struct profile_clock jd_profile_clock(const struct profile_scan *scan, const struct perf_data *data,
                                      const struct history *history,
                                      const struct scanned_mapping *mapping);

/* 0 if the clock is unknown. */
uint64_t jd_profile_time(const struct profile_clock *clock, uint64_t time);

#endif
