/*
 * What the profiled command finds in its environment.
 */
#ifndef JITDUMP_TOOL_RECORD_ENVIRONMENT_H
#define JITDUMP_TOOL_RECORD_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* The path of libjitdump-collector.so. False: it is not installed. */
bool record_find_collector(char *path, size_t size);

enum collector_use {
    COLLECTOR_LEFT_OUT,
    COLLECTOR_NAMED,    /* by the variables of Intel's interfaces */
    COLLECTOR_PRELOADED /* and that */
};

/* Makes runtimes write dumps to the directory. What the user has set stays. */
void record_set_environment(const char *directory, enum collector_use use);

#endif
