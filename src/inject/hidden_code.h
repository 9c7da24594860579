/*
 * Mapping events of a process that would hide its generated code: perf takes them for something else
 * that came to its place.
 */
#ifndef JITDUMP_INJECT_HIDDEN_CODE_H
#define JITDUMP_INJECT_HIDDEN_CODE_H

#include "inject/profile_clock.h"
#include "inject/ranges.h"

struct hiding_events {
    uint64_t *offsets; /* in the profile; ascending once sorted, each once */
    uint64_t count;
    uint64_t capacity;
};

/* Adds those that hide a dump's code, in its process and in those forked from it:
 * - of memory without a file, wherever there is code at any time (P17);
 * - of data without a file, in `holes`, where unwinding data were put: perf's libunwind would read it there;
 * - of a file's memory into which code had been loaded that is still there: it has only been made
 *   executable once more.
 * False: out of memory. */
bool jd_hiding_events_add(struct hiding_events *events, const struct profile_scan *scan,
                          const struct history *history, const struct profile_clock *clock,
                          uint32_t pid, struct ranges *holes);
void jd_hiding_events_sort(struct hiding_events *events);
void jd_hiding_events_free(struct hiding_events *events);

#endif
