#include "dwarf_calls.h"

#include "dwarf_names.h"
#include "grow.h"

#include <stdlib.h>

/* An origin's origin, and so on: the standard knows three (a concrete instance, the abstract one, its
 * declaration). */
#define ORIGINS_MAX 4

struct reading {
    const struct dwarf *dwarf;
    struct dwarf_calls *calls;
    struct dwarf_lines *lines;
    /* All units, by their offset, and the abbreviations of the one that was looked at last. */
    struct dwarf_cu *units;
    size_t unit_count;
    size_t unit_capacity;
    struct dwarf_abbrevs abbrevs;
    uint64_t abbrevs_of;
    bool abbrevs_read;
    /* For each open list of children, the call that it belongs to. */
    uint32_t *stack;
    size_t depth;
    size_t stack_capacity;
};

static bool out_of_memory(struct reading *reading)
{
    reading->calls->no_memory = true;
    return false;
}

static bool use_abbrevs(struct reading *reading, uint64_t offset)
{
    if (reading->abbrevs_read && reading->abbrevs_of == offset)
        return true;
    reading->abbrevs_of = offset;
    reading->abbrevs_read = jd_dwarf_abbrevs_read(&reading->abbrevs, reading->dwarf, offset);
    return reading->abbrevs_read || out_of_memory(reading);
}

static const struct dwarf_cu *unit_of(const struct reading *reading, uint64_t offset)
{
    size_t low = 0;
    size_t high = reading->unit_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (reading->units[middle].unit.offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && offset < reading->units[low - 1].end ? &reading->units[low - 1] : NULL;
}

static uint32_t small(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : 0;
}

static uint32_t file_of(const struct reading *reading, const struct dwarf_cu *cu, uint64_t number)
{
    if (cu->die.lines.class == DWARF_NONE || (number == 0 && cu->unit.version < 5))
        return UINT32_MAX;
    return jd_dwarf_lines_file(reading->lines, cu->die.lines.number, number);
}

/* Takes what the entry says that is not yet known. */
static void take_names(const struct reading *reading, const struct dwarf_cu *cu,
                       const struct dwarf_die *die, struct dwarf_call *call, const char **plain)
{
    if (call->name == NULL)
        call->name = die->linkage_name;
    if (*plain == NULL)
        *plain = die->name;
    if (call->line == 0 && die->decl_line != 0) {
        call->line = small(die->decl_line);
        call->file = file_of(reading, cu, die->decl_file);
    }
}

/* Name and place of the function, which may stand in other entries, of other units too. */
static void name_call(struct reading *reading, const struct dwarf_cu *cu, struct dwarf_die die,
                      struct dwarf_call *call)
{
    const char *plain = NULL;
    take_names(reading, cu, &die, call, &plain);
    for (int i = 0; i < ORIGINS_MAX && die.origin.class == DWARF_REFERENCE; i++) {
        const uint64_t offset = die.origin.number;
        cu = unit_of(reading, offset);
        if (cu == NULL || !use_abbrevs(reading, cu->abbrev_offset))
            break;
        struct cursor cursor = jd_dwarf_cursor(reading->dwarf, reading->dwarf->info, offset);
        if (!jd_dwarf_die_read(&cursor, &cu->unit, &reading->abbrevs, &die))
            break;
        take_names(reading, cu, &die, call, &plain);
    }
    if (call->name == NULL)
        call->name = plain != NULL ? plain : "";
}

/* The index of the call that an entry is; that of its parent, if it is none. */
static uint32_t add_call(struct reading *reading, const struct dwarf_cu *cu,
                         const struct dwarf_die *die, uint32_t parent)
{
    struct dwarf_calls *const calls = reading->calls;
    const bool is_function = die->tag == DW_TAG_subprogram;
    if (!is_function && (die->tag != DW_TAG_inlined_subroutine || parent == DWARF_NO_CALL))
        return parent;
    struct dwarf_call call = {.file = UINT32_MAX,
                              .parent = is_function ? DWARF_NO_CALL : parent,
                              .call_file = UINT32_MAX,
                              .first_range = calls->ranges.count};
    if (!jd_dwarf_ranges_add(&calls->ranges, cu, die)) {
        out_of_memory(reading);
        return DWARF_NO_CALL;
    }
    call.range_count = calls->ranges.count - call.first_range;
    if (call.range_count == 0)
        return is_function ? DWARF_NO_CALL : parent;
    if (!is_function) {
        call.depth = calls->items[parent].depth + 1;
        call.call_file = file_of(reading, cu, die->call_file);
        call.call_line = small(die->call_line);
        call.call_column = small(die->call_column);
    }
    name_call(reading, cu, *die, &call);
    if (calls->count >= DWARF_NO_CALL || !grow((void **)&calls->items, &calls->capacity, calls->count,
                                               sizeof(*calls->items))) {
        out_of_memory(reading);
        return DWARF_NO_CALL;
    }
    calls->items[calls->count] = call;
    return (uint32_t)calls->count++;
}

static void read_entries(struct reading *reading, const struct dwarf_cu *cu)
{
    struct cursor cursor = jd_dwarf_cursor(reading->dwarf, reading->dwarf->info, cu->entries);
    cursor.end = cursor.base + cu->end;
    reading->depth = 0;
    do {
        struct dwarf_die die;
        if (!use_abbrevs(reading, cu->abbrev_offset) ||
            !jd_dwarf_die_read(&cursor, &cu->unit, &reading->abbrevs, &die))
            return;
        if (die.tag == 0) {
            reading->depth -= reading->depth > 0;
            continue;
        }
        const uint32_t parent =
            reading->depth > 0 ? reading->stack[reading->depth - 1] : DWARF_NO_CALL;
        const uint32_t call = add_call(reading, cu, &die, parent);
        if (die.has_children) {
            if (!grow((void **)&reading->stack, &reading->stack_capacity, reading->depth,
                      sizeof(*reading->stack))) {
                out_of_memory(reading);
                return;
            }
            reading->stack[reading->depth++] = call;
        }
    } while (reading->depth > 0 && cursor_left(&cursor) > 0 && !reading->calls->no_memory);
}

static bool read_units(struct reading *reading)
{
    struct cursor cursor = jd_dwarf_cursor(reading->dwarf, reading->dwarf->info, 0);
    while (cursor_left(&cursor) > 0) {
        struct dwarf_cu cu;
        if (!jd_dwarf_cu_read(&cursor, reading->dwarf, &cu))
            continue;
        if (!use_abbrevs(reading, cu.abbrev_offset) ||
            !grow((void **)&reading->units, &reading->unit_capacity, reading->unit_count, sizeof(cu)))
            return out_of_memory(reading);
        if (!jd_dwarf_cu_describe(&cu, &reading->abbrevs))
            continue;
        reading->units[reading->unit_count++] = cu;
        if (cu.die.lines.class == DWARF_OFFSET || cu.die.lines.class == DWARF_NUMBER)
            jd_dwarf_lines_add(reading->lines, reading->dwarf, cu.die.lines.number, cu.die.directory,
                               cu.unit.address_size);
    }
    return true;
}

/* Line tables that no unit names. */
static void read_other_lines(struct reading *reading)
{
    struct cursor cursor = jd_dwarf_cursor(reading->dwarf, reading->dwarf->line, 0);
    const unsigned char *const end = cursor.end;
    bool is_64;
    while (cursor_left(&cursor) > 0 && !reading->lines->no_memory) {
        jd_dwarf_lines_add(reading->lines, reading->dwarf, cursor_offset(&cursor), NULL, 8);
        if (!jd_dwarf_length(&cursor, &is_64))
            return;
        cursor.at = cursor.end;
        cursor.end = end;
    }
}

void jd_dwarf_calls_read(struct dwarf_calls *calls, struct dwarf_lines *lines, const struct dwarf *dwarf)
{
    struct reading reading = {.dwarf = dwarf, .calls = calls, .lines = lines};
    *calls = (struct dwarf_calls){0};
    *lines = (struct dwarf_lines){0};
    if (read_units(&reading))
        for (size_t i = 0; i < reading.unit_count && !calls->no_memory; i++)
            read_entries(&reading, &reading.units[i]);
    read_other_lines(&reading);
    jd_dwarf_lines_sort(lines);
    jd_dwarf_abbrevs_free(&reading.abbrevs);
    free(reading.units);
    free(reading.stack);
}

void jd_dwarf_calls_free(struct dwarf_calls *calls)
{
    free(calls->items);
    free(calls->ranges.items);
    *calls = (struct dwarf_calls){0};
}
