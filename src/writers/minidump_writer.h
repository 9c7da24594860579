/*
 * A minidump once more, with regions of generated code as modules.
 *
 * Nothing of the file changes but the twelve bytes that say where its list of modules is: the new
 * list, and what it refers to, lie behind everything else.
 */
#ifndef JITDUMP_WRITERS_MINIDUMP_WRITER_H
#define JITDUMP_WRITERS_MINIDUMP_WRITER_H

#include "reader/minidump.h"
#include "writers/breakpad_writer.h"

enum minidump_write_error {
    MINIDUMP_WRITTEN,
    MINIDUMP_WRITE_NO_MEMORY,
    MINIDUMP_WRITE_TOO_LARGE, /* its offsets have 32 bits */
    MINIDUMP_NOT_WRITTEN      /* errno says why */
};

/* Writes the file, which must be empty. The modules must not overlap each other, nor the minidump's. */
enum minidump_write_error minidump_write(int fd, const struct minidump *minidump,
                                         const struct breakpad_module *modules, size_t count);

#endif
