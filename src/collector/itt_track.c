#include "platform/c_library.h"

#include "itt_track.h"

#include <stdlib.h>

/* As deep as calls are looked for, each in the other. */
#define DEPTH_MAX 200

/* What comes after these is left out: where the regions of a method overlap, which no compiler makes, each of them
 * has all that is inlined, and their number grows by the power of the depth. */
#define CALLS_MAX 4096

struct itt_calls {
    /* Side by side: a region is the code of one call. */
    struct track_call *calls;
    struct track_range *ranges;
    const struct itt_region **regions;
    size_t count;
    size_t capacity;
    size_t line_count; /* of all */
};

static bool grow(struct itt_calls *calls)
{
    if (calls->count < calls->capacity)
        return true;
    const size_t capacity = calls->capacity != 0 ? 2 * calls->capacity : 16;
    void *const items = realloc(calls->calls, capacity * sizeof(*calls->calls));
    if (items != NULL)
        calls->calls = items;
    void *const ranges = realloc(calls->ranges, capacity * sizeof(*calls->ranges));
    if (ranges != NULL)
        calls->ranges = ranges;
    void *const regions = realloc((void *)calls->regions, capacity * sizeof(*calls->regions));
    if (regions != NULL)
        calls->regions = regions;
    if (items == NULL || ranges == NULL || regions == NULL)
        return false;
    calls->capacity = capacity;
    return true;
}

static uint32_t line_in(const struct itt_calls *calls, uint32_t call, uint32_t offset)
{
    const struct itt_region *const region = calls->regions[call];
    return jd_itt_line_at(region->lines, region->line_count, offset - calls->ranges[call].start);
}

static bool add_call(struct itt_calls *calls, const struct itt_region *region, uint32_t start,
                     uint32_t parent)
{
    if (!grow(calls))
        return false;
    calls->calls[calls->count] = (struct track_call){
        .name = region->name,
        .file = region->file,
        .parent = parent,
        .site_line = parent != JITDUMP_NONE ? line_in(calls, parent, start) : 0};
    calls->ranges[calls->count] =
        (struct track_range){(uint32_t)calls->count, start, start + region->size};
    calls->regions[calls->count++] = region;
    calls->line_count += region->line_count;
    return true;
}

/* What is inlined in the call, a level down. What lies outside of it is not. */
static bool add_children(struct itt_calls *calls, const struct itt_method *method, uint32_t parent,
                         unsigned int depth)
{
    const struct track_range above = calls->ranges[parent];
    const uint64_t base = calls->regions[0]->address;
    for (const struct itt_method *child = method->first_child; child != NULL && depth < DEPTH_MAX;
         child = child->next_sibling) {
        for (uint32_t i = 0; i < child->region_count; i++) {
            const struct itt_region *const region = &child->regions[i];
            const uint64_t start = region->address - base;
            const uint32_t index = (uint32_t)calls->count;
            if (region->address < base || start < above.start || start >= above.end ||
                region->size > above.end - start || calls->count == CALLS_MAX)
                continue;
            if (!add_call(calls, region, (uint32_t)start, parent) ||
                !add_children(calls, child, index, depth + 1))
                return false;
        }
    }
    return true;
}

static struct track_place place_at(const void *context, uint32_t call, uint32_t offset)
{
    return (struct track_place){.line = line_in(context, call, offset)};
}

static bool make(struct call_track *made, const struct itt_calls *calls)
{
    const struct track_source source = {.calls = calls->calls,
                                        .call_count = calls->count,
                                        .ranges = calls->ranges + 1,
                                        .range_count = calls->count - 1,
                                        .code_size = calls->ranges[0].end,
                                        .place_at = place_at,
                                        .context = calls};
    uint32_t *const bounds = malloc((calls->line_count + 2 * calls->count + 1) * sizeof(*bounds));
    size_t count = 0;
    if (bounds == NULL)
        return false;
    for (size_t i = 0; i < calls->count; i++)
        for (uint32_t j = 0; j < calls->regions[i]->line_count; j++)
            bounds[count++] = calls->ranges[i].start + calls->regions[i]->lines[j].offset;
    const bool done = jd_call_track_make(made, &source, bounds, count);
    free(bounds);
    return done;
}

bool jd_itt_track_make(struct call_track *made, const struct itt_method *method,
                       const struct itt_region *region)
{
    struct itt_calls calls = {0};
    *made = (struct call_track){0};
    const bool worth = add_call(&calls, region, 0, JITDUMP_NONE) &&
                       add_children(&calls, method, 0, 0) &&
                       (calls.count > 1 || (region->line_count != 0 && region->file != NULL));
    const bool done = worth && make(made, &calls);
    free(calls.calls);
    free(calls.ranges);
    free((void *)calls.regions);
    return done;
}
