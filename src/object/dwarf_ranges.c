#include "dwarf_ranges.h"

#include "grow.h"

static const char cut[] = "a list of ranges ends too early";

enum rnglist_entry {
    DW_RLE_end_of_list = 0,
    DW_RLE_base_addressx = 1,
    DW_RLE_startx_endx = 2,
    DW_RLE_startx_length = 3,
    DW_RLE_offset_pair = 4,
    DW_RLE_base_address = 5,
    DW_RLE_start_end = 6,
    DW_RLE_start_length = 7
};

static bool add(struct dwarf_ranges *ranges, uint64_t start, uint64_t end)
{
    if (start >= end || start == 0)
        return true;
    if (!grow((void **)&ranges->items, &ranges->capacity, ranges->count, sizeof(*ranges->items)))
        return false;
    ranges->items[ranges->count++] = (struct dwarf_range){start, end};
    return true;
}

static uint64_t unit_base(const struct dwarf_cu *cu)
{
    return cu->die.low.class == DWARF_ADDRESS ? cu->die.low.number : 0;
}

/* Up to version 4. */
static bool add_old_list(struct dwarf_ranges *ranges, const struct dwarf_cu *cu, uint64_t offset)
{
    struct cursor cursor = jd_dwarf_cursor(cu->unit.dwarf, cu->unit.dwarf->ranges, offset);
    const uint64_t none = cu->unit.address_size == 4 ? UINT32_MAX : UINT64_MAX;
    uint64_t base = unit_base(cu);
    for (;;) {
        const uint64_t start = jd_dwarf_address(&cursor, cu->unit.address_size);
        const uint64_t end = jd_dwarf_address(&cursor, cu->unit.address_size);
        if (cursor.error != NULL || (start == 0 && end == 0))
            return true;
        if (start == none)
            base = end;
        else if (!add(ranges, base + start, base + end))
            return false;
    }
}

static uint64_t indexed(struct cursor *cursor, const struct dwarf_unit *unit)
{
    uint64_t address = 0;
    if (!jd_dwarf_indexed_address(unit, jd_cursor_uleb128(cursor, cut), &address))
        cursor_fail(cursor, "a range has an address that is not in the table");
    return address;
}

static bool add_new_list(struct dwarf_ranges *ranges, const struct dwarf_cu *cu, uint64_t offset)
{
    const struct dwarf_unit *const unit = &cu->unit;
    struct cursor cursor = jd_dwarf_cursor(unit->dwarf, unit->dwarf->rnglists, offset);
    uint64_t base = unit_base(cu);
    for (;;) {
        uint64_t start = 0;
        uint64_t end = 0;
        switch (cursor_u8(&cursor, cut)) {
        case DW_RLE_end_of_list:
            return true;
        case DW_RLE_base_addressx:
            base = indexed(&cursor, unit);
            break;
        case DW_RLE_base_address:
            base = jd_dwarf_address(&cursor, unit->address_size);
            break;
        case DW_RLE_startx_endx:
            start = indexed(&cursor, unit);
            end = indexed(&cursor, unit);
            break;
        case DW_RLE_startx_length:
            start = indexed(&cursor, unit);
            end = start + jd_cursor_uleb128(&cursor, cut);
            break;
        case DW_RLE_offset_pair:
            start = base + jd_cursor_uleb128(&cursor, cut);
            end = base + jd_cursor_uleb128(&cursor, cut);
            break;
        case DW_RLE_start_end:
            start = jd_dwarf_address(&cursor, unit->address_size);
            end = jd_dwarf_address(&cursor, unit->address_size);
            break;
        case DW_RLE_start_length:
            start = jd_dwarf_address(&cursor, unit->address_size);
            end = start + jd_cursor_uleb128(&cursor, cut);
            break;
        default:
            return true;
        }
        if (cursor.error != NULL)
            return true;
        if (!add(ranges, start, end))
            return false;
    }
}

/* By its index in the unit's table of lists, whose offsets count from the table. */
static bool add_indexed_list(struct dwarf_ranges *ranges, const struct dwarf_cu *cu, uint64_t index)
{
    const struct dwarf_unit *const unit = &cu->unit;
    const unsigned int size = unit->is_64 ? 8 : 4;
    const uint64_t base = unit->rnglists_base;
    if (base > unit->dwarf->rnglists.size || index >= (unit->dwarf->rnglists.size - base) / size)
        return true;
    struct cursor cursor = jd_dwarf_cursor(unit->dwarf, unit->dwarf->rnglists, base + index * size);
    return add_new_list(ranges, cu, base + jd_dwarf_offset(&cursor, unit->is_64));
}

bool jd_dwarf_ranges_add(struct dwarf_ranges *ranges, const struct dwarf_cu *cu,
                         const struct dwarf_die *die)
{
    if (die->ranges.class == DWARF_RANGE_INDEX)
        return add_indexed_list(ranges, cu, die->ranges.number);
    if (die->ranges.class == DWARF_OFFSET)
        return cu->unit.version >= 5 ? add_new_list(ranges, cu, die->ranges.number)
                                     : add_old_list(ranges, cu, die->ranges.number);
    if (die->low.class != DWARF_ADDRESS)
        return true;
    if (die->high.class == DWARF_ADDRESS)
        return add(ranges, die->low.number, die->high.number);
    return add(ranges, die->low.number, die->low.number + die->high.number);
}
