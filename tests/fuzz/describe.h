/*
 * A fuzzer's bytes as the description of a function: sound in most, with something hostile in it
 * here and there. Each array is an allocation of its exact size, so that AddressSanitizer sees who
 * reads past it.
 */
#ifndef JITDUMP_TESTS_DESCRIBE_H
#define JITDUMP_TESTS_DESCRIBE_H

#include "input.h"
#include "jitdump.h"

#include <stdbool.h>

/* Code of up to this size has bytes of its own; all larger code is zeros, up to the largest size
 * there can be. */
#define POOL_SIZE (256 << 10)

#define TRACKS_MAX 2
#define OWNED_MAX 64

/* Room behind a struct, for a newer version of it. */
#define BEYOND_SIZE 64

struct description {
    struct jitdump_code code;
    unsigned char beyond[BEYOND_SIZE];
    struct jitdump_unwind unwind;
    struct jitdump_track tracks[TRACKS_MAX];
    void *owned[OWNED_MAX];
    int owned_count;
};

/* To be called once, before anything else. */
void describe_init(void);

/* Everything but the tier. */
void describe(struct description *description, struct input *input);
void describe_end(struct description *description);

/* Makes a struct, with BEYOND_SIZE zeros behind it, what its own struct_size says, if a version
 * of it can have that: what a smaller one lacks is zero, and a larger one's last byte is not
 * always. */
void suit_struct_size(void *structure, size_t known_size, size_t minimum);

/* `size` bytes that are readable, of the choice of the input. */
const unsigned char *take_bytes(struct input *input, uint64_t size);

/* A string in memory of its own; NULL is one too. The description frees it. */
char *take_string(struct description *description, struct input *input);

#endif
