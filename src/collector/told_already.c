#include "platform/c_library.h"

#include "told_already.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

/* The last code at an address, as far as its place is not another's: then it is told twice. */
struct told {
    uint64_t address;
    uint64_t size;
    uint64_t hash;
    uint32_t by;
    uint32_t detail;
};

enum { TOLD_MAX = 1024 };

static struct told all[TOLD_MAX];
/* Taken only if it is free: in the child of a fork it may never be. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static uint64_t hash_bytes(uint64_t hash, const unsigned char *bytes, uint64_t size)
{
    uint64_t word;
    for (; size >= sizeof(word); bytes += sizeof(word), size -= sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        hash = mix(hash, word);
    }
    for (; size > 0; size--)
        hash = mix(hash, *bytes++);
    return hash;
}

static uint32_t detail_of(const struct jitdump_code *code)
{
    return (uint32_t)(code->tracks != NULL) + (uint32_t)(code->eh_frame != NULL);
}

bool jd_told_already(const struct jitdump_code *code, enum loaded_by by)
{
    struct told now = {code->code_addr, code->code_size, 0, by, detail_of(code)};
    now.hash = hash_bytes(0, (const unsigned char *)code->name, strlen(code->name));
    now.hash = hash_bytes(now.hash, code->code_bytes, code->code_size);
    if (pthread_mutex_trylock(&lock) != 0)
        return false;
    struct told *const last = &all[mix(0, now.address) % TOLD_MAX];
    const bool same = last->address == now.address && last->size == now.size &&
                      last->hash == now.hash && last->by != now.by && last->detail >= now.detail;
    if (!same)
        *last = now;
    pthread_mutex_unlock(&lock);
    return same;
}
