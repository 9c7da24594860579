/*
 * The clocks that timestamps are read from.
 */
#ifndef JITDUMP_CLOCK_H
#define JITDUMP_CLOCK_H

#include "jitdump.h"

#pragma GCC visibility push(hidden)

/* The clock's present value: nanoseconds (monotonic) or ticks (TSC). Never decreases
 * from one call to a later one, also across threads where the one call happens before
 * the other. */
uint64_t jd_clock_now(enum jitdump_clock clock);

/* 0 if perf will be able to read timestamps of the clock on this machine, else one of
 * JITDUMP_ERROR_CLOCK_*. With `force`, only whether the clock exists. */
int jd_clock_check(enum jitdump_clock clock, int force);

/* How many of the clock's units are about `ns` nanoseconds. For intervals only. */
uint64_t jd_clock_units(enum jitdump_clock clock, uint64_t ns);

#pragma GCC visibility pop

#endif
