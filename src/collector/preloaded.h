/*
 * Whether this is in the process because $LD_PRELOAD says so: only then it hears of all that it exports a
 * function of the C library for.
 */
#ifndef JITDUMP_COLLECTOR_PRELOADED_H
#define JITDUMP_COLLECTOR_PRELOADED_H

#include <stdbool.h>

bool jd_collector_is_preloaded(void);

#endif
