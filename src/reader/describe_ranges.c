#include "reader/describe.h"

#include <stdlib.h>

static int compare_ranges(const void *left, const void *right)
{
    const struct code_range *const l = left, *const r = right;
    return l->begin < r->begin ? -1 : l->begin > r->begin;
}

/* Each call's ranges ascending, and those that touch joined. */
static void join_ranges(struct description *description)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < description->call_count; i++) {
        struct inlined_call *const call = &description->calls[i];
        struct code_range *const ranges = &description->ranges[call->first_range];
        bool ascending = true;
        for (uint32_t j = 1; ascending && j < call->range_count; j++)
            ascending = ranges[j - 1].begin <= ranges[j].begin;
        if (!ascending)
            qsort(ranges, call->range_count, sizeof(*ranges), compare_ranges);

        const uint32_t first = kept;
        for (uint32_t j = 0; j < call->range_count; j++) {
            const struct code_range range = ranges[j];
            struct code_range *const before = &description->ranges[kept] - 1;
            if (kept == first || range.begin > before->end)
                description->ranges[kept++] = range;
            else if (range.end > before->end)
                before->end = range.end;
        }
        call->first_range = first;
        call->range_count = kept - first;
    }
    description->range_count = kept;
}

/* Walks through the code with the calls that are open. Where two ranges begin together the caller's
 * has the lower index, since calls are depth first and ranges are in their order. */
static bool are_nested(const struct description *description, uint64_t *keys, uint32_t *call_of,
                       uint32_t *open)
{
    for (uint32_t i = 0; i < description->call_count; i++) {
        const struct inlined_call *const call = &description->calls[i];
        for (uint32_t j = 0; j < call->range_count; j++)
            call_of[call->first_range + j] = i;
    }
    for (uint32_t i = 0; i < description->range_count; i++)
        keys[i] = (uint64_t)description->ranges[i].begin << 32 | i;
    jd_sort_keys(keys, description->range_count);

    uint32_t depth = 0;
    for (uint32_t i = 0; i < description->range_count; i++) {
        const uint32_t index = (uint32_t)keys[i];
        const struct code_range *const range = &description->ranges[index];
        while (depth > 0 && description->ranges[open[depth - 1]].end <= range->begin)
            depth--;
        const uint32_t around = depth > 0 ? call_of[open[depth - 1]] : DESCRIPTION_NONE;
        if (description->calls[call_of[index]].parent != around ||
            (depth > 0 && range->end > description->ranges[open[depth - 1]].end))
            return false;
        open[depth++] = index;
    }
    return true;
}

enum described jd_describe_ranges(struct describing *describing)
{
    struct description *const description = describing->description;
    join_ranges(description);
    uint64_t *const keys = jd_reserve_keys(description, description->range_count);
    uint32_t *const words = jd_reserve_words(description, 2 * (uint64_t)description->range_count);
    if (keys == NULL || words == NULL)
        return DESCRIBED_NO_MEMORY;
    if (!are_nested(description, keys, words, words + description->range_count))
        return describe_wrongly(describing, describing->record,
                                "SAMPLY_JIT_CODE_DEBUG_INFO2: a call that is not within its caller's "
                                "code, or overlaps another");
    return DESCRIBED;
}
