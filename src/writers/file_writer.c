#define _GNU_SOURCE
#include "platform/c_library.h"

#include "writers/file_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum {
    BUFFER_SIZE = 1 << 20,
    /* What is less than a block of the file system is filled with zeros. */
    HOLE_MIN = 4096
};

static void write_at(struct file_writer *writer, uint64_t offset, const unsigned char *bytes,
                     size_t size)
{
    while (size > 0 && writer->error == 0) {
        if (offset > (uint64_t)INT64_MAX - size) {
            writer->error = EFBIG;
            return;
        }
        const ssize_t written = pwrite(writer->fd, bytes, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            writer->error = written < 0 ? errno : EIO;
            return;
        }
        bytes += written;
        size -= (size_t)written;
        offset += (uint64_t)written;
    }
}

static void flush(struct file_writer *writer)
{
    write_at(writer, writer->buffer_offset, writer->buffer, writer->used);
    writer->buffer_offset += writer->used;
    writer->used = 0;
}

void file_writer_init(struct file_writer *writer, int fd)
{
    *writer = (struct file_writer){.fd = fd, .buffer = malloc(BUFFER_SIZE)};
    if (writer->buffer == NULL)
        writer->error = ENOMEM;
}

/* Goes to `offset`; what is in between is zeros, or a hole. */
static void go_to(struct file_writer *writer, uint64_t offset)
{
    const uint64_t gap = offset - (writer->buffer_offset + writer->used);
    if (gap >= HOLE_MIN || gap > BUFFER_SIZE - writer->used) {
        flush(writer);
        writer->buffer_offset = offset;
    } else if (gap > 0) {
        memset(writer->buffer + writer->used, 0, (size_t)gap);
        writer->used += (size_t)gap;
    }
}

void file_writer_put(struct file_writer *writer, uint64_t offset, const void *bytes, size_t size)
{
    if (writer->error != 0 || size == 0)
        return;
    go_to(writer, offset);
    if (size > BUFFER_SIZE - writer->used)
        flush(writer);
    if (size > BUFFER_SIZE) {
        write_at(writer, offset, bytes, size);
        writer->buffer_offset = offset + size;
    } else {
        memcpy(writer->buffer + writer->used, bytes, size);
        writer->used += size;
    }
}

int file_writer_finish(struct file_writer *writer, const void *header, size_t header_size)
{
    if (writer->error == 0)
        flush(writer);
    write_at(writer, 0, header, header_size);
    free(writer->buffer);
    writer->buffer = NULL;
    return writer->error;
}
