/*
 * Files without names.
 */
#ifndef JITDUMP_TOOL_TEMPORARY_H
#define JITDUMP_TOOL_TEMPORARY_H

#include "reader/mapped_file.h"

#include <stdio.h>

/* For what belongs to the file `path`. NULL, with a complaint. */
FILE *make_temporary(const char *path);

/* What was written, which lasts as long as the mapping. False, with a complaint of `path`. */
bool map_temporary(struct mapped_file *file, FILE *temporary, const char *path);

#endif
