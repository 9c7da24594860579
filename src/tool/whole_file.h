/*
 * A file that appears whole under its name, or not at all.
 */
#ifndef JITDUMP_TOOL_WHOLE_FILE_H
#define JITDUMP_TOOL_WHOLE_FILE_H

#include <stdbool.h>

struct whole_file {
    int fd;
    const char *path;
    char *temporary; /* the name it has until then; NULL: it has none */
};

/* A new, empty file, which takes the place of one of that name only when it is finished. False,
 * with a complaint, if it can't be made, or if what has the name must not be replaced: what is no
 * regular file, and any dump. */
bool whole_file_open(struct whole_file *file, const char *path);

/* Gives it its name. False, with a complaint, if that fails; then there is no file. */
bool whole_file_finish(struct whole_file *file);

/* Leaves nothing behind. */
void whole_file_drop(struct whole_file *file);

#endif
