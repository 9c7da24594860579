/*
 * A build id: XXH64 of a file's contents, the same state joined in another order, and the low four bytes
 * of their length. Equal contents have equal ids, and others do not by chance; it is no defence against
 * somebody who wants two files of one id.
 */
#ifndef JITDUMP_WRITERS_DIGEST_H
#define JITDUMP_WRITERS_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { DIGEST_SIZE = 20, DIGEST_BLOCK = 32 };

struct digest {
    uint64_t lanes[4]; /* each of every fourth word */
    uint64_t length;
    unsigned char partial[DIGEST_BLOCK]; /* the last length % DIGEST_BLOCK bytes */
};

void digest_begin(struct digest *digest);
void digest_add(struct digest *digest, const void *bytes, size_t size);
void digest_end(const struct digest *digest, unsigned char id[DIGEST_SIZE]);

#endif
