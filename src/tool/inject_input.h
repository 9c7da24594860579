/*
 * The profile that is to be injected: a file, a directory, or what comes through a pipe.
 */
#ifndef JITDUMP_TOOL_INJECT_INPUT_H
#define JITDUMP_TOOL_INJECT_INPUT_H

#include "reader/mapped_file.h"

/* The profile `path`, "-" for standard input. What went through a pipe, is compressed, or lies in several
 * files, comes as one plain file would be. False, with a complaint; else to be closed with
 * jd_mapped_file_close(). */
bool open_profile(struct mapped_file *file, const char *path);

#endif
