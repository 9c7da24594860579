/*
 * What the profiled command finds in its environment.
 */
#ifndef JITDUMP_TOOL_RECORD_ENVIRONMENT_H
#define JITDUMP_TOOL_RECORD_ENVIRONMENT_H

/* Makes runtimes write dumps to the directory. What the user has set stays. */
void record_set_environment(const char *directory);

#endif
