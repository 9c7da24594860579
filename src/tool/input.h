/*
 * The files that commands read. What is wrong with them is complained about here.
 */
#ifndef JITDUMP_TOOL_INPUT_H
#define JITDUMP_TOOL_INPUT_H

#include "reader/history.h"

/* False: it can't be read. Else to be closed with jd_mapped_file_close(). */
bool open_file(struct mapped_file *file, const char *path);

/* A dump's history, with progress on a terminal. False: there is none; else to be freed with
 * jd_history_free(). */
bool read_history(struct history *history, const struct mapped_file *file, const char *path,
                  const struct problems *problems);

#endif
