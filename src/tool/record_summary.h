/*
 * What a recording has found, in some lines.
 *
 * Names and lines are counted by this program's own reader, from the profile as perf recorded it and the
 * dumps: it takes no longer than reading them, and perf script with lines would ask for those of every
 * library too. The tests compare the counts with perf's of the injected profile. Call chains by frame pointers
 * are counted so too. Those that perf unwinds from copies of the stack only perf knows.
 */
#ifndef JITDUMP_TOOL_RECORD_SUMMARY_H
#define JITDUMP_TOOL_RECORD_SUMMARY_H

#include "tool/record_directory.h"

#include "reader/perf_data.h"

/* On standard error. `data` is the recorded profile, which has been read by jd_perf_data_init(). `told_undescribed`: that
 * there is no dump was said already. */
void record_summarise(const struct record_directory *directory, struct perf_data *data, bool told_undescribed);

#endif
