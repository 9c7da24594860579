/*
 * A word of the processes whose generated code stays without names, since they have no dump.
 */
#ifndef JITDUMP_TOOL_INJECT_UNDESCRIBED_H
#define JITDUMP_TOOL_INJECT_UNDESCRIBED_H

#include "tool/inject_dumps.h"

#include "inject/undescribed.h"

/* The dumps of the request count, whether they could be read or not. False: out of memory. To be freed in any
 * case. */
bool find_undescribed(struct undescribed *undescribed, const struct inject_request *request,
                      const struct injected_dumps *dumps, const struct profile_scan *scan,
                      struct perf_data *data);

/* On standard error; false: it was not worth a word. */
bool tell_undescribed(struct undescribed *undescribed);

#endif
