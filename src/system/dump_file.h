/*
 * The dump on disk: safe creation, making it known, appending whole blocks, cutting back
 * after a failed write.
 */
#ifndef JITDUMP_DUMP_FILE_H
#define JITDUMP_DUMP_FILE_H

#include "announce.h"
#include "new_file.h"
#include "../format/records.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#pragma GCC visibility push(hidden)

struct dump_file {
    struct new_file on_disk;
    bool is_adopted; /* its path is the program's affair */
    /* What the first failed write met, and its errno; appends do nothing from then on. */
    int error;
    int error_number;
    struct announcement announcement;
    /* Absolute. Of a file that could not be created: what it failed on. */
    char path[PATH_MAX];
};

/* Finds the directory for dumps: `directory`, else $JITDUMPDIR, else the current one;
 * `absolute` receives its path, or after an error what was looked for. */
int jd_dump_file_directory(const char *directory, char absolute[PATH_MAX]);

/* Creates `directory`/jit-<pid>.dump, writes the header and announces it. No write is to
 * send `signal`: see jd_write_all(). After an error there is no file, path and error_number tell
 * more. */
int jd_dump_file_create(struct dump_file *file, const char *directory, int signal,
                        const struct jitdump_file_header *header);

/* The same with a file that the program has opened. Its path is not known: `path` says so. */
int jd_dump_file_adopt(struct dump_file *file, int descriptor, int signal,
                       const struct jitdump_file_header *header);

/* Appends one or two pieces that make whole groups of records. On error the file is cut back to
 * the last whole one and takes no more: the error is returned now and from then on. */
int jd_dump_file_append(struct dump_file *file, const struct iovec *bytes, int count);

/* Puts a file of this header alone in its place, or else cuts it back to its own. To be closed
 * afterwards. */
int jd_dump_file_empty(struct dump_file *file, const struct jitdump_file_header *header);

/* Ends the announcement and closes; with `unlink_it`, removes the file too. Returns the error of
 * a write that is known only now. */
int jd_dump_file_close(struct dump_file *file, bool unlink_it);

/* In the child of a fork: the descriptor is closed, but what the announcement has mapped stays. */
void jd_dump_file_abandon(struct dump_file *file);

#pragma GCC visibility pop

#endif
