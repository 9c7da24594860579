/*
 * A region of code -> a Breakpad symbol file: functions, lines, inlined calls and unwinding data, for
 * minidump-stackwalk and other readers of crash reports, for Sentry and the like.
 *
 * Of Breakpad's readers each has rules of its own for what it refuses. The file keeps to those of
 * the strictest one, line by line; see docs/symbolising.md.
 */
#ifndef JITDUMP_WRITERS_BREAKPAD_WRITER_H
#define JITDUMP_WRITERS_BREAKPAD_WRITER_H

#include "writers/code_regions.h"

enum { BREAKPAD_ID_SIZE = 34 }; /* with its NUL */

struct breakpad_module {
    const struct history *history;
    struct code_region region;
    const char *name; /* printable ASCII */
    unsigned char build_id[DIGEST_SIZE];
};

enum breakpad_error {
    BREAKPAD_OK,
    BREAKPAD_NO_MEMORY,
    BREAKPAD_NOT_WRITTEN /* errno says why */
};

/* The module's id as text: the build id's first 16 bytes as a GUID, and an age of 0. */
void breakpad_id(const struct breakpad_module *module, char text[BREAKPAD_ID_SIZE]);

/* The build id of a module whose file is not written: that of its pieces and its base. */
void breakpad_identify(struct breakpad_module *module, const struct problems *problems);

/* Files for what is known before what comes in front of it: functions, and unwinding data. */
enum { BREAKPAD_SCRATCH_FILES = 2 };

/* Writes the file, which must be empty, and sets the module's build id. The scratch files are other empty
 * files; what is in them afterwards is of no use. Records that can't be read or used are told to
 * `problems` (which may be NULL) and left out. After an error what is in the file is of no use. */
enum breakpad_error breakpad_write(int fd, const int scratch[BREAKPAD_SCRATCH_FILES],
                                   struct breakpad_module *module,
                                   const struct problems *problems);

#endif
