/*
 * The profile that is to be injected: a file, or what comes through a pipe.
 */
#ifndef JITDUMP_TOOL_INJECT_INPUT_H
#define JITDUMP_TOOL_INJECT_INPUT_H

#include "reader/mapped_file.h"

/* The file `path`, "-" for standard input. What went through a pipe comes as a file would be. False, with
 * a complaint; else to be closed with jd_mapped_file_close(). */
bool open_profile(struct mapped_file *file, const char *path);

#endif
