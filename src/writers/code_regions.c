#include "writers/code_regions.h"

#include "reader/grow.h"

#include <stdlib.h>

enum { PAGE = 4096 };

struct dividing {
    struct code_regions *regions;
    uint64_t capacity;
    const struct memory_map *map;
    bool joined;
    uint64_t range; /* the map's first that does not end before the piece */
};

/* Whether the piece lies between the addresses. */
static bool is_within(const struct placed *placed, uint64_t begin, uint64_t end)
{
    return placed->address >= begin && placed->address < end &&
           placed->piece->code_size <= end - placed->address;
}

/* The ranges that the piece lies in. False: it does not lie in any. */
static bool find_ranges(struct dividing *dividing, const struct placed *placed,
                        struct memory_range *found)
{
    const struct memory_map *const map = dividing->map;
    while (dividing->range < map->count && map->ranges[dividing->range].end <= placed->address)
        dividing->range++;
    if (dividing->range == map->count)
        return false;
    *found = map->ranges[dividing->range];
    for (uint64_t i = dividing->range + 1; dividing->joined && i < map->count; i++) {
        if (is_within(placed, found->begin, found->end) || map->ranges[i].begin != found->end)
            break;
        found->end = map->ranges[i].end;
    }
    return is_within(placed, found->begin, found->end);
}

/* The region that the piece belongs to: the last one, which may become longer, or a new one behind it.
 * False: there is none. */
static bool choose_region(struct code_region *last, const struct placed *placed,
                          struct memory_range found, bool joined, struct code_region *chosen)
{
    if (last != NULL) {
        const uint64_t last_end = last->base + last->size;
        if (joined && found.begin <= last_end && found.end - last->base <= CODE_REGION_LONGEST) {
            *chosen = *last;
            chosen->size = found.end - last->base;
            return true;
        }
        if (found.begin < last_end)
            found.begin = last_end;
    }
    if (found.end - found.begin > CODE_REGION_LONGEST) {
        const uint64_t page = placed->address / PAGE * PAGE;
        if (page > found.begin)
            found.begin = page;
        if (found.end - found.begin > CODE_REGION_LONGEST)
            found.end = found.begin + CODE_REGION_LONGEST;
    }
    *chosen = (struct code_region){.base = found.begin, .size = found.end - found.begin};
    return is_within(placed, found.begin, found.end);
}

/* False: out of memory. */
static bool divide(struct dividing *dividing, const struct placed *placed)
{
    struct code_regions *const regions = dividing->regions;
    struct code_region *const last =
        regions->count > 0 ? &regions->regions[regions->count - 1] : NULL;
    struct code_region chosen;
    struct memory_range found;
    if (last != NULL && is_within(placed, last->base, last->base + last->size)) {
        chosen = *last;
    } else if (!find_ranges(dividing, placed, &found) ||
               !choose_region(last, placed, found, dividing->joined, &chosen)) {
        if (regions->outside++ == 0)
            regions->outside_at = placed->address;
        return true;
    }
    const bool is_new = last == NULL || chosen.base != last->base;
    if (is_new) {
        void *const grown = grow(regions->regions, &dividing->capacity, regions->count + 1,
                                 sizeof(*regions->regions));
        if (grown == NULL)
            return false;
        regions->regions = grown;
        regions->count++;
        chosen.pieces = regions->pieces + regions->piece_count;
    }
    chosen.count++;
    regions->regions[regions->count - 1] = chosen;
    regions->pieces[regions->piece_count++] = *placed; /* the array shrinks in place */
    return true;
}

bool code_regions_divide(struct code_regions *regions, const struct memory_map *map, bool joined,
                         struct placed *pieces, size_t count)
{
    struct dividing dividing = {.regions = regions, .map = map, .joined = joined};
    *regions = (struct code_regions){.pieces = pieces};
    for (size_t i = 0; i < count; i++) {
        const struct placed placed = pieces[i];
        if (!divide(&dividing, &placed)) {
            code_regions_free(regions);
            return false;
        }
    }
    return true;
}

void code_regions_free(struct code_regions *regions)
{
    free(regions->regions);
    free(regions->pieces);
    *regions = (struct code_regions){.count = 0};
}
