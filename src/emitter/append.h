/*
 * Appending records.
 *
 * Data flows one way: the caller's struct -> the encoder says the exact size -> one
 * reservation in the buffer -> the encoder writes into it -> the file.
 */
#ifndef JITDUMP_APPEND_H
#define JITDUMP_APPEND_H

#include "handle.h"

#pragma GCC visibility push(hidden)

/* The records to append: `encode` writes head_size bytes from `input`, and `tail` follows. */
struct group {
    unsigned char *(*encode)(unsigned char *to, const struct record_stamp *stamp,
                             const void *input);
    const void *input;
    uint64_t head_size;
    const void *tail;
    uint64_t tail_size;
    /* Memory for the head, should the group be larger than a block; NULL: is allocated then. */
    unsigned char *head;
};

/* Appends the group, whatever the status. `index` receives its code_index. */
int jd_append_group(struct jitdump *dump, const struct group *group, uint64_t *index);

/* Appends JIT_CODE_CLOSE, whatever the status. Nothing may be appended after it. */
void jd_append_close(struct jitdump *dump);

#pragma GCC visibility pop

#endif
