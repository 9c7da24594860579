/*
 * The directory of a recording.
 */
#ifndef JITDUMP_TOOL_RECORD_DIRECTORY_H
#define JITDUMP_TOOL_RECORD_DIRECTORY_H

#include <stdbool.h>

struct record_directory {
    char *path;     /* absolute; also where the dumps go */
    char *recorded; /* what perf writes */
    char *profile;  /* what is made of it: the name that perf looks for by itself */
    bool made;      /* it was not there before */
};

/* `path`, which must be new or empty, or, if it is NULL, a new one in the current directory. False, with a complaint:
 * it can't be had. A new one is unfinished (unfinished.h) until perf runs. */
bool record_directory_make(struct record_directory *directory, const char *path);

/* Removes what perf has written, which may be a directory itself, and the directory, if it is empty then and was not
 * there before. */
void record_directory_remove(const struct record_directory *directory);

void record_directory_free(struct record_directory *directory);

#endif
