/*
 * A folder of files that appears whole under its name, or not at all.
 */
#ifndef JITDUMP_TOOL_OUTPUT_FOLDER_H
#define JITDUMP_TOOL_OUTPUT_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

struct output_folder {
    char *path;      /* absolute; NULL: it has that name */
    char *temporary; /* what it is called now; NULL: there is none that output_folder_drop() would remove */
    mode_t mode;
};

/* A new folder, made when the first file is, for those who may read the file `like`. False, with a
 * complaint: `path` is in no folder, is no folder of this user's, or has something in it that is no
 * profile's: dumps, and whatever does not begin with jit-. */
bool output_folder_open(struct output_folder *folder, const char *path, const char *like);

/* A new file in it, for writing, to be closed by the caller. `name` may have folders, which are made.
 * -1, with a complaint. */
int output_folder_file(struct output_folder *folder, const char *name);

/* Signals that end the program are to be held from here on until all is there (unfinished.h).
 * Gives it its name, in place of the one that had it; where there are no files, there is no folder
 * either. False, with a complaint. */
bool output_folder_finish(struct output_folder *folder);

/* What else belongs to it is there too. */
void output_folder_keep(struct output_folder *folder);

/* Frees it, and leaves nothing behind, but what was kept. */
void output_folder_drop(struct output_folder *folder);

#endif
