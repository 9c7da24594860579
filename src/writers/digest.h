/*
 * A build id: MurmurHash3_x64_128 of a file's contents, and behind it the low four bytes of their
 * length, for readers that know build ids of 20 bytes only. Equal contents have equal ids, and
 * others do not by chance; it is no defence against somebody who wants two files of one id.
 */
#ifndef JITDUMP_WRITERS_DIGEST_H
#define JITDUMP_WRITERS_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { DIGEST_SIZE = 20, DIGEST_BLOCK = 16 };

struct digest {
    uint64_t h1;
    uint64_t h2;
    uint64_t length;
    unsigned char partial[DIGEST_BLOCK]; /* the last length % DIGEST_BLOCK bytes */
};

/* A new one is {0}. */
void digest_add(struct digest *digest, const void *bytes, size_t size);
void digest_end(const struct digest *digest, unsigned char id[DIGEST_SIZE]);

#endif
