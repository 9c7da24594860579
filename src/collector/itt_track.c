#include "platform/c_library.h"

#include "itt_track.h"

#include <stdlib.h>
#include <string.h>

/* As many calls as positions can have above them. */
#define DEPTH_MAX 200

/* The code of an inlined call, or the whole: from `start` to `end` in the code. */
struct call {
    const struct itt_region *region;
    uint32_t start;
    uint32_t end;
    uint32_t parent; /* index; of the whole: JITDUMP_NONE */
    uint32_t depth;
    /* The position of its caller, where it is called. */
    uint32_t site;
};

struct calls {
    struct call *items;
    size_t count;
    size_t capacity;
    size_t line_count; /* of all */
};

static bool add_call(struct calls *calls, struct call call)
{
    if (calls->count == calls->capacity) {
        const size_t capacity = calls->capacity != 0 ? 2 * calls->capacity : 16;
        struct call *const items = realloc(calls->items, capacity * sizeof(*items));
        if (items == NULL)
            return false;
        calls->items = items;
        calls->capacity = capacity;
    }
    calls->items[calls->count++] = call;
    calls->line_count += call.region->line_count;
    return true;
}

/* What is inlined in the call, a level down. What lies outside of it is not. */
static bool add_children(struct calls *calls, const struct itt_method *method, uint32_t parent)
{
    const struct call above = calls->items[parent];
    const uint64_t base = calls->items[0].region->address;
    for (const struct itt_method *child = method->first_child; child != NULL;
         child = child->next_sibling) {
        for (uint32_t i = 0; i < child->region_count; i++) {
            const struct itt_region *const region = &child->regions[i];
            const uint64_t start = region->address - base;
            if (region->address < base || start < above.start || start >= above.end ||
                region->size > above.end - start || region->size == 0 || above.depth == DEPTH_MAX)
                continue;
            const struct call call = {.region = region,
                                      .start = (uint32_t)start,
                                      .end = (uint32_t)start + region->size,
                                      .parent = parent,
                                      .depth = above.depth + 1};
            const uint32_t index = (uint32_t)calls->count;
            if (!add_call(calls, call) || !add_children(calls, child, index))
                return false;
        }
    }
    return true;
}

static int ascending(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* All offsets at which something may change, ascending, each once. */
static size_t boundaries(uint32_t *to, const struct calls *calls)
{
    size_t count = 0;
    size_t kept = 0;
    const uint32_t size = calls->items[0].end;
    for (size_t i = 0; i < calls->count; i++) {
        const struct call *const call = &calls->items[i];
        to[count++] = call->start;
        to[count++] = call->end;
        for (uint32_t j = 0; j < call->region->line_count; j++)
            to[count++] = call->start + call->region->lines[j].offset;
    }
    qsort(to, count, sizeof(*to), ascending);
    for (size_t i = 0; i < count; i++)
        if (to[i] < size && (kept == 0 || to[kept - 1] != to[i]))
            to[kept++] = to[i];
    return kept;
}

static uint32_t line_at(const struct call *call, uint32_t offset)
{
    return jd_itt_line_at(call->region->lines, call->region->line_count, offset - call->start);
}

/* The deepest call that the offset is in; of two that overlap, the later one. */
static uint32_t innermost(const struct calls *calls, uint32_t offset)
{
    uint32_t found = 0;
    for (uint32_t i = 1; i < calls->count; i++) {
        const struct call *const call = &calls->items[i];
        if (offset >= call->start && offset < call->end && call->depth >= calls->items[found].depth)
            found = i;
    }
    return found;
}

static bool fill(struct itt_track *made, struct calls *calls)
{
    struct jitdump_track *const track = &made->track;
    const size_t bounds_max = 2 * calls->count + calls->line_count;
    uint32_t *const bounds = malloc(bounds_max * sizeof(*bounds));
    made->functions = calloc(calls->count, sizeof(*made->functions));
    made->positions = calloc(calls->count + bounds_max, sizeof(*made->positions));
    made->offsets = calloc(bounds_max, sizeof(*made->offsets));
    const bool have = bounds != NULL && made->functions != NULL && made->positions != NULL &&
                      made->offsets != NULL;
    uint32_t position_count = 0;
    for (uint32_t i = 0; have && i < calls->count; i++) {
        struct call *const call = &calls->items[i];
        made->functions[i] =
            (struct jitdump_function){.name = call->region->name, .file = call->region->file};
        call->site = JITDUMP_NONE;
        if (call->parent == JITDUMP_NONE)
            continue;
        /* One for each call, though it may be equal to another's: else they would be one call. */
        const struct call *const caller = &calls->items[call->parent];
        call->site = position_count;
        made->positions[position_count++] =
            (struct jitdump_position){.function = call->parent,
                                      .line = line_at(caller, call->start),
                                      .caller = caller->site};
    }
    const size_t count = have ? boundaries(bounds, calls) : 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t in = innermost(calls, bounds[i]);
        const struct call *const call = &calls->items[in];
        made->positions[position_count] = (struct jitdump_position){
            .function = in, .line = line_at(call, bounds[i]), .caller = call->site};
        made->offsets[i] = (struct jitdump_offset){bounds[i], position_count++};
    }
    *track = (struct jitdump_track){.struct_size = sizeof(*track),
                                    .functions = made->functions,
                                    .function_count = calls->count,
                                    .positions = made->positions,
                                    .position_count = position_count,
                                    .offsets = made->offsets,
                                    .offset_count = count};
    free(bounds);
    return count != 0;
}

bool jd_itt_track_describe(struct itt_track *made, const struct itt_method *method,
                              const struct itt_region *region)
{
    struct calls calls = {0};
    const struct call whole = {.region = region, .end = region->size, .parent = JITDUMP_NONE};
    *made = (struct itt_track){0};
    const bool described = add_call(&calls, whole) && add_children(&calls, method, 0) &&
                           (calls.count > 1 || (region->line_count != 0 && region->file != NULL)) &&
                           fill(made, &calls);
    free(calls.items);
    if (!described)
        jd_itt_track_free(made);
    return described;
}

void jd_itt_track_free(struct itt_track *made)
{
    free(made->functions);
    free(made->positions);
    free(made->offsets);
    *made = (struct itt_track){0};
}
