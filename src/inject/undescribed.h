/*
 * Samples in generated code of processes that have no dump: they stay without names.
 */
#ifndef JITDUMP_INJECT_UNDESCRIBED_H
#define JITDUMP_INJECT_UNDESCRIBED_H

#include "inject/profile_scan.h"

struct undescribed_process {
    uint32_t pid;
    struct span name; /* of the last program with such samples; points into the profile, NULL: not known */
    uint64_t samples; /* in executable memory of no file, where perf takes no names from a perf map either */
};

struct undescribed {
    struct undescribed_process *processes; /* by pid */
    uint64_t count;
    uint64_t user_samples; /* of the whole profile, in user mode; not counted if none can be such */
};

/* The dumps are those that the scan knows, read or not, and those of the processes `pids`. A process has a dump
 * as long as it runs the program that has mapped it; and so has what was forked from that later, until it
 * executes another program. `has_perf_map` says whether there is /tmp/perf-PID.map.
 *
 * False: out of memory. To be freed in any case. */
bool jd_undescribed_find(struct undescribed *undescribed, const struct profile_scan *scan,
                         const uint32_t *pids, uint64_t pid_count,
                         bool (*has_perf_map)(uint32_t pid), struct perf_data *data);
void jd_undescribed_free(struct undescribed *undescribed);

#endif
