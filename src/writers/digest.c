#include "writers/digest.h"

#include <string.h>

static const uint64_t factor1 = UINT64_C(0x87c37b91114253d5);
static const uint64_t factor2 = UINT64_C(0x4cf5ad432745937f);

static uint64_t rotate(uint64_t value, unsigned by)
{
    return value << by | value >> (64 - by);
}

/* Little-endian on all machines, so that an id does not depend on where it was made. */
static uint64_t load(const unsigned char *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

static uint64_t mix1(uint64_t word)
{
    return rotate(word * factor1, 31) * factor2;
}

static uint64_t mix2(uint64_t word)
{
    return rotate(word * factor2, 33) * factor1;
}

static void add_blocks(struct digest *digest, const unsigned char *from, size_t count)
{
    uint64_t h1 = digest->h1, h2 = digest->h2;
    for (; count > 0; from += DIGEST_BLOCK, count--) {
        h1 ^= mix1(load(from));
        h1 = (rotate(h1, 27) + h2) * 5 + 0x52dce729;
        h2 ^= mix2(load(from + 8));
        h2 = (rotate(h2, 31) + h1) * 5 + 0x38495ab5;
    }
    digest->h1 = h1;
    digest->h2 = h2;
}

void digest_add(struct digest *digest, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    const size_t used = (size_t)(digest->length % DIGEST_BLOCK);
    digest->length += size;
    if (used > 0) {
        const size_t more = size < DIGEST_BLOCK - used ? size : DIGEST_BLOCK - used;
        if (more > 0)
            memcpy(digest->partial + used, from, more);
        if (used + more < DIGEST_BLOCK)
            return;
        add_blocks(digest, digest->partial, 1);
        from += more;
        size -= more;
    }
    add_blocks(digest, from, size / DIGEST_BLOCK);
    if (size % DIGEST_BLOCK > 0)
        memcpy(digest->partial, from + size / DIGEST_BLOCK * DIGEST_BLOCK, size % DIGEST_BLOCK);
}

static uint64_t finish(uint64_t word)
{
    word = (word ^ word >> 33) * UINT64_C(0xff51afd7ed558ccd);
    word = (word ^ word >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return word ^ word >> 33;
}

void digest_end(const struct digest *digest, unsigned char id[DIGEST_SIZE])
{
    unsigned char tail[DIGEST_BLOCK] = {0};
    memcpy(tail, digest->partial, (size_t)(digest->length % DIGEST_BLOCK));
    uint64_t h1 = digest->h1 ^ mix1(load(tail)) ^ digest->length;
    uint64_t h2 = digest->h2 ^ mix2(load(tail + 8)) ^ digest->length;
    h1 += h2;
    h2 += h1;
    h1 = finish(h1);
    h2 = finish(h2);
    h1 += h2;
    h2 += h1;
    for (unsigned i = 0; i < 8; i++) {
        id[i] = (unsigned char)(h1 >> 8 * (7 - i));
        id[8 + i] = (unsigned char)(h2 >> 8 * (7 - i));
    }
    for (unsigned i = 0; i < 4; i++)
        id[16 + i] = (unsigned char)(digest->length >> 8 * (3 - i));
}
