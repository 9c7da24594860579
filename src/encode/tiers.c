#include "../platform/c_library.h"

#include "tiers.h"

#include <string.h>

const struct tier *jd_tiers_add(struct tiers *tiers, const char *name, uint32_t color_index,
                                const char *prefix)
{
    const size_t prefix_size = strlen(prefix) + 1, name_size = strlen(name) + 1;
    struct tier *tier = malloc(sizeof(*tier) + prefix_size + name_size);
    if (tier == NULL)
        return NULL;
    const uint32_t count = atomic_load_explicit(&tiers->count, memory_order_relaxed);
    tier->number = count + 1;
    tier->color_index = color_index;
    tier->name = memcpy(tier->prefix + prefix_size, name, name_size);
    memcpy(tier->prefix, prefix, prefix_size);
    tiers->list[count] = tier;
    /* Releases the tier to tiers_find(). */
    atomic_store_explicit(&tiers->count, count + 1, memory_order_release);
    return tier;
}
