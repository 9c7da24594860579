#include "inject/regions.h"

#include "reader/grow.h"
#include "writers/elf_extent.h"

bool jd_regions_add(struct regions *regions, uint64_t begin, uint64_t end, struct ranges *foreign)
{
    struct range *const last = regions->count != 0 ? &regions->of[regions->count - 1] : NULL;
    if (last != NULL && end <= last->end)
        return true;
    if (last != NULL && end - last->begin < ELF_REACH &&
        !jd_ranges_overlap(foreign, last->end, begin)) {
        last->end = end;
        return true;
    }
    struct range *const grown =
        grow(regions->of, &regions->capacity, regions->count + 1, sizeof(*grown));
    if (grown == NULL)
        return false;
    regions->of = grown;
    regions->of[regions->count++] = (struct range){begin, end};
    return true;
}

const struct range *jd_regions_find(const struct regions *regions, uint64_t address)
{
    uint64_t low = 0, high = regions->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (regions->of[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return &regions->of[low - 1];
}

void jd_regions_free(struct regions *regions)
{
    free(regions->of);
    *regions = (struct regions){0};
}
