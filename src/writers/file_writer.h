/*
 * Writes a file from its beginning to its end, with holes where nothing is put. Errors are noted
 * once; what comes after the first is dropped.
 */
#ifndef JITDUMP_WRITERS_FILE_WRITER_H
#define JITDUMP_WRITERS_FILE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_writer {
    int fd;
    int error;              /* an errno value, 0 for none */
    unsigned char *buffer;
    size_t used;
    uint64_t buffer_offset; /* in the file, of the buffer's first byte */
};

/* The file is empty. */
void file_writer_init(struct file_writer *writer, int fd);

/* `offset` is not before the end of what was put so far. */
void file_writer_put(struct file_writer *writer, uint64_t offset, const void *bytes, size_t size);

/* Writes what is left, and over the file's beginning what could not be known before, a header.
 * Returns the first error. */
int file_writer_finish(struct file_writer *writer, const void *header, size_t header_size);

#endif
