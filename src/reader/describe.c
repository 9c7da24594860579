#include "reader/describe.h"

#include "reader/grow.h"

#include <stdlib.h>

/* An element more, so that no array is NULL. */
static void *place_for(void *array, uint64_t *capacity, uint64_t count, size_t element_size)
{
    return count < UINT32_MAX ? grow(array, capacity, count + 1, element_size) : NULL;
}

bool jd_reserve_rows(struct description *description, uint64_t count)
{
    struct line_row *const rows = place_for(description->rows, &description->memory->row_capacity, count,
                                            sizeof(*rows));
    if (rows != NULL)
        description->rows = rows;
    return rows != NULL;
}

bool jd_reserve_functions(struct description *description, uint64_t count)
{
    struct described_function *const functions = place_for(description->functions, &description->memory->function_capacity, count,
                                                           sizeof(*functions));
    if (functions != NULL)
        description->functions = functions;
    return functions != NULL;
}

bool jd_reserve_calls(struct description *description, uint64_t count)
{
    struct inlined_call *const calls = place_for(description->calls, &description->memory->call_capacity, count,
                                                 sizeof(*calls));
    if (calls != NULL)
        description->calls = calls;
    return calls != NULL;
}

bool jd_reserve_ranges(struct description *description, uint64_t count)
{
    struct code_range *const ranges = place_for(description->ranges, &description->memory->range_capacity, count,
                                                sizeof(*ranges));
    if (ranges != NULL)
        description->ranges = ranges;
    return ranges != NULL;
}

bool jd_reserve_strings(struct description *description, uint64_t count)
{
    struct span *const strings = place_for(description->strings, &description->memory->string_capacity, count,
                                           sizeof(*strings));
    if (strings != NULL)
        description->strings = strings;
    return strings != NULL;
}

uint32_t *jd_reserve_words(struct description *description, uint64_t count)
{
    uint32_t *const words = grow(description->memory->words, &description->memory->word_capacity,
                                 count + 1, sizeof(*words));
    if (words != NULL)
        description->memory->words = words;
    return words;
}

uint64_t *jd_reserve_keys(struct description *description, uint64_t count)
{
    uint64_t *const keys =
        place_for(description->memory->keys, &description->memory->key_capacity, count, sizeof(*keys));
    if (keys != NULL)
        description->memory->keys = keys;
    return keys;
}

static int compare_keys(const void *left, const void *right)
{
    const uint64_t *const l = left, *const r = right;
    return *l < *r ? -1 : *l > *r;
}

void jd_sort_keys(uint64_t *keys, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        if (keys[i - 1] > keys[i]) {
            qsort(keys, (size_t)count, sizeof(*keys), compare_keys);
            return;
        }
    }
}

enum described jd_describe_strings(struct describing *describing, struct cursor *cursor,
                                   uint64_t count, const char *error)
{
    struct description *const description = describing->description;
    /* Each takes a byte at least. */
    if (count > cursor_left(cursor))
        return describe_wrongly(describing, cursor_offset(cursor), error);
    if (!jd_reserve_strings(description, description->string_count + count))
        return DESCRIBED_NO_MEMORY;
    for (uint64_t i = 0; i < count; i++)
        description->strings[description->string_count++] = cursor_string(cursor, error);
    if (cursor->error != NULL)
        return describe_wrongly(describing, cursor->error_offset, cursor->error);
    return DESCRIBED;
}

bool jd_sort_rows(struct description *description)
{
    const uint32_t count = description->row_count;
    bool ascending = true;
    for (uint32_t i = 1; ascending && i < count; i++)
        ascending = description->rows[i - 1].code_offset < description->rows[i].code_offset;
    if (ascending)
        return true;

    uint64_t *const keys = jd_reserve_keys(description, count);
    struct line_row *const copy =
        keys != NULL ? malloc((size_t)count * sizeof(*copy)) : NULL;
    if (copy == NULL)
        return false;
    memcpy(copy, description->rows, (size_t)count * sizeof(*copy));
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (uint64_t)copy[i].code_offset << 32 | i;
    jd_sort_keys(keys, count);
    description->row_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i + 1 == count || keys[i] >> 32 != keys[i + 1] >> 32)
            description->rows[description->row_count++] = copy[(uint32_t)keys[i]];
    }
    free(copy);
    return true;
}
