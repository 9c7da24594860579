#include "reader/description.h"

static bool call_covers(const struct description *description, const struct inlined_call *call,
                        uint32_t code_offset)
{
    const struct code_range *const ranges = &description->ranges[call->first_range];
    uint32_t low = 0, high = call->range_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (ranges[middle].end <= code_offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < call->range_count && ranges[low].begin <= code_offset;
}

uint32_t jd_description_call_at(const struct description *description, uint32_t code_offset)
{
    uint32_t innermost = DESCRIPTION_NONE;
    /* Depth first: what is in a call that covers the offset follows it at once. */
    for (uint32_t i = 0; i < description->call_count; i++) {
        const struct inlined_call *const call = &description->calls[i];
        if (call->parent == innermost && call_covers(description, call, code_offset))
            innermost = i;
    }
    return innermost;
}

const struct line_row *jd_description_row_at(const struct description *description,
                                             uint32_t code_offset)
{
    uint32_t low = 0, high = description->row_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (description->rows[middle].code_offset <= code_offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &description->rows[low - 1] : NULL;
}
