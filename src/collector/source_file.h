/*
 * Names of source files, as profilers find them.
 */
#ifndef JITDUMP_COLLECTOR_SOURCE_FILE_H
#define JITDUMP_COLLECTOR_SOURCE_FILE_H

#include <stdbool.h>

/* The absolute path of a file that is there under this name, relative to the current directory: to be
 * freed by the caller. NULL: the name is as good as it gets. */
char *jd_source_file_absolute(const char *name);

#endif
