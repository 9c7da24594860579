/*
 * A file in memory, as long as it was when it was opened. Nothing is read before it is looked at.
 *
 * If somebody cuts the file shorter while it is mapped, looking at what is gone raises SIGBUS.
 */
#ifndef JITDUMP_READER_MAPPED_FILE_H
#define JITDUMP_READER_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct mapped_file {
    const unsigned char *data; /* NULL if the file is empty */
    uint64_t size;
    /* False: bytes that come from elsewhere, which are left as they are. */
    bool mapped;
};

/* Returns 0, or an errno value: EINVAL if it is no regular file, EFBIG if it has no place in the
 * address space. After an error `file` is empty, and may be closed. */
int jd_mapped_file_open(struct mapped_file *file, const char *path);
void jd_mapped_file_close(struct mapped_file *file);

/* For reading a large file from front to back without keeping it in memory: gives back the
 * memory between `*passed` and `offset` once that is 16 MiB, and moves `*passed` up. What is
 * looked at again is read from the file again. Returns whether it has moved. */
bool jd_mapped_file_pass(const struct mapped_file *file, uint64_t *passed, uint64_t offset);

/* The same where the file is read in no order: gives all of its memory back. */
void jd_mapped_file_release(const struct mapped_file *file);

#endif
