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

/* Writes the file, which must be empty. `scratch` is another empty file, for what is in its middle and
 * known before its beginning; what is in it afterwards is of no use. Records that can't be read or
 * used are told to `problems` (which may be NULL) and left out. After an error what is in the file is
 * of no use. */
enum breakpad_error breakpad_write(int fd, int scratch, const struct breakpad_module *module,
                                   const struct problems *problems);

#endif
