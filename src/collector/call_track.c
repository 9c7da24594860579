#include "platform/c_library.h"

#include "call_track.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* All offsets at which something may change: ascending, each once, the first 0. */
static size_t sort_bounds(uint32_t *bounds, size_t count, const struct track_source *source)
{
    size_t kept = 0;
    bounds[count++] = 0;
    for (size_t i = 0; i < source->range_count; i++) {
        bounds[count++] = source->ranges[i].start;
        bounds[count++] = source->ranges[i].end;
    }
    qsort(bounds, count, sizeof(*bounds), ascending);
    for (size_t i = 0; i < count; i++)
        if (bounds[i] < source->code_size && (kept == 0 || bounds[kept - 1] != bounds[i]))
            bounds[kept++] = bounds[i];
    return kept;
}

static size_t bound_at(const uint32_t *bounds, size_t count, uint32_t offset)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (bounds[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Which call the code between two bounds is in. */
static void paint(uint32_t *call_of, const uint32_t *bounds, size_t count,
                  const struct track_source *source)
{
    memset(call_of, 0, count * sizeof(*call_of));
    for (size_t i = 0; i < source->range_count; i++) {
        const struct track_range *const range = &source->ranges[i];
        for (size_t at = bound_at(bounds, count, range->start); at < count && bounds[at] < range->end; at++)
            call_of[at] = range->call;
    }
}

static bool is_other_file(const struct track_call *call, const char *file)
{
    return file != NULL && (call->file == NULL || strcmp(call->file, file) != 0);
}

/* The position of the call's own code at an offset. A position has its function's file; code of another one, from
 * an included file say, is of one more function of the same name. */
static void put_position(struct jitdump_track *track, struct call_track *made,
                         const struct track_source *source, const uint32_t *sites, uint32_t call,
                         uint32_t offset)
{
    const struct track_place place = source->place_at(source->context, call, offset);
    uint32_t function = call;
    if (is_other_file(&source->calls[call], place.file)) {
        function = (uint32_t)track->function_count++;
        made->functions[function] =
            (struct jitdump_function){.name = source->calls[call].name, .file = place.file};
    }
    made->positions[track->position_count++] = (struct jitdump_position){
        .function = function, .line = place.line, .column = place.column, .caller = sites[call]};
}

/* A function for each call, and the position of its caller: one for each call, even if it is equal to
 * another's, or they would be one call. */
static void put_calls(struct jitdump_track *track, struct call_track *made,
                      const struct track_source *source, uint32_t *sites)
{
    for (uint32_t i = 0; i < source->call_count; i++) {
        const struct track_call *const call = &source->calls[i];
        made->functions[i] = (struct jitdump_function){
            .name = call->name, .file = call->file, .start_line = call->start_line};
        sites[i] = JITDUMP_NONE;
        if (call->parent == JITDUMP_NONE)
            continue;
        sites[i] = (uint32_t)track->position_count;
        made->positions[track->position_count++] =
            (struct jitdump_position){.function = call->parent,
                                      .line = call->site_line,
                                      .column = call->site_column,
                                      .caller = sites[call->parent]};
    }
    track->function_count = source->call_count;
}

bool jd_call_track_make(struct call_track *made, const struct track_source *source, uint32_t *bounds,
                        size_t bound_count)
{
    const size_t count = sort_bounds(bounds, bound_count, source);
    uint32_t *const call_of = calloc(count + source->call_count, sizeof(*call_of));
    uint32_t *const sites = call_of != NULL ? call_of + count : NULL;
    *made = (struct call_track){
        .functions = calloc(source->call_count + count, sizeof(*made->functions)),
        .positions = calloc(source->call_count + count, sizeof(*made->positions)),
        .offsets = calloc(count, sizeof(*made->offsets))};
    struct jitdump_track *const track = &made->track;
    if (call_of == NULL || made->functions == NULL || made->positions == NULL || made->offsets == NULL ||
        count + source->call_count > JITDUMP_TRACK_COUNT_MAX) {
        free(call_of);
        jd_call_track_free(made);
        return false;
    }
    *track = (struct jitdump_track){.struct_size = sizeof(*track),
                                    .functions = made->functions,
                                    .positions = made->positions,
                                    .offsets = made->offsets};
    paint(call_of, bounds, count, source);
    put_calls(track, made, source, sites);
    for (size_t i = 0; i < count; i++) {
        put_position(track, made, source, sites, call_of[i], bounds[i]);
        made->offsets[track->offset_count++] =
            (struct jitdump_offset){bounds[i], (uint32_t)track->position_count - 1};
    }
    free(call_of);
    return true;
}

void jd_call_track_free(struct call_track *made)
{
    free(made->functions);
    free(made->positions);
    free(made->offsets);
    *made = (struct call_track){0};
}
