/* XXH64: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md */
#include "writers/digest.h"

#include <string.h>

#define PRIME1 UINT64_C(0x9e3779b185ebca87)
#define PRIME2 UINT64_C(0xc2b2ae3d27d4eb4f)
#define PRIME3 UINT64_C(0x165667b19e3779f9)
#define PRIME4 UINT64_C(0x85ebca77c2b2ae63)
#define PRIME5 UINT64_C(0x27d4eb2f165667c5)

static uint64_t rotate(uint64_t value, unsigned by)
{
    return value << by | value >> (64 - by);
}

/* Of 8 bytes at most. Little-endian on all machines, so that an id does not depend on where it was made. */
static uint64_t load(const unsigned char *from, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, from, size);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

static uint64_t mix(uint64_t lane, uint64_t word)
{
    return rotate(lane + word * PRIME2, 31) * PRIME1;
}

void digest_begin(struct digest *digest)
{
    *digest = (struct digest){.lanes = {PRIME1 + PRIME2, PRIME2, 0, 0 - PRIME1}};
}

static void add_blocks(struct digest *digest, const unsigned char *from, size_t count)
{
    uint64_t a = digest->lanes[0], b = digest->lanes[1], c = digest->lanes[2], d = digest->lanes[3];
    for (; count > 0; from += DIGEST_BLOCK, count--) {
        a = mix(a, load(from, 8));
        b = mix(b, load(from + 8, 8));
        c = mix(c, load(from + 16, 8));
        d = mix(d, load(from + 24, 8));
    }
    digest->lanes[0] = a;
    digest->lanes[1] = b;
    digest->lanes[2] = c;
    digest->lanes[3] = d;
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

/* The lanes in one, from that of the number `first` on; of less than a block, `few`. */
static uint64_t join(const struct digest *digest, unsigned first, uint64_t few)
{
    static const unsigned char by[] = {1, 7, 12, 18};
    uint64_t hash = 0;
    if (digest->length < DIGEST_BLOCK)
        return few;
    for (unsigned i = 0; i < 4; i++)
        hash += rotate(digest->lanes[(first + i) % 4], by[i]);
    for (unsigned i = 0; i < 4; i++)
        hash = (hash ^ mix(0, digest->lanes[(first + i) % 4])) * PRIME1 + PRIME4;
    return hash;
}

/* With the length, and the bytes that are no block. */
static uint64_t finish(const struct digest *digest, uint64_t hash)
{
    const unsigned char *at = digest->partial;
    size_t left = (size_t)(digest->length % DIGEST_BLOCK);
    hash += digest->length;
    for (; left >= 8; at += 8, left -= 8)
        hash = rotate(hash ^ mix(0, load(at, 8)), 27) * PRIME1 + PRIME4;
    if (left >= 4) {
        hash = rotate(hash ^ load(at, 4) * PRIME1, 23) * PRIME2 + PRIME3;
        at += 4;
        left -= 4;
    }
    for (; left > 0; at++, left--)
        hash = rotate(hash ^ *at * PRIME5, 11) * PRIME1;
    hash = (hash ^ hash >> 33) * PRIME2;
    hash = (hash ^ hash >> 29) * PRIME3;
    return hash ^ hash >> 32;
}

void digest_end(const struct digest *digest, unsigned char id[DIGEST_SIZE])
{
    const uint64_t first = finish(digest, join(digest, 0, PRIME5));
    const uint64_t second = finish(digest, join(digest, 2, PRIME4));
    for (unsigned i = 0; i < 8; i++) {
        id[i] = (unsigned char)(first >> 8 * (7 - i));
        id[8 + i] = (unsigned char)(second >> 8 * (7 - i));
    }
    for (unsigned i = 0; i < 4; i++)
        id[16 + i] = (unsigned char)(digest->length >> 8 * (3 - i));
}
