#include "dwarf_unit.h"

#include "dwarf_names.h"

static const char cut[] = "the debug information ends too early";

struct cursor jd_dwarf_cursor(const struct dwarf *dwarf, struct span section, uint64_t offset)
{
    static const unsigned char nothing[1];
    const unsigned char *const data = section.data != NULL ? section.data : nothing;
    struct cursor cursor = {.at = data, .end = data + section.size, .base = data, .swapped = dwarf->swapped};
    cursor_take(&cursor, offset, "an offset leads out of its section");
    return cursor;
}

bool jd_dwarf_length(struct cursor *cursor, bool *is_64)
{
    uint64_t length = cursor_u32(cursor, cut);
    *is_64 = length == UINT32_MAX;
    if (*is_64)
        length = cursor_u64(cursor, cut);
    else if (length >= UINT64_C(0xfffffff0))
        cursor_fail(cursor, "a length has a reserved value");
    if (length > cursor_left(cursor))
        cursor_fail(cursor, cut);
    if (cursor->error != NULL)
        return false;
    cursor->end = cursor->at + length;
    return true;
}

uint64_t jd_dwarf_offset(struct cursor *cursor, bool is_64)
{
    return is_64 ? cursor_u64(cursor, cut) : cursor_u32(cursor, cut);
}

uint64_t jd_dwarf_address(struct cursor *cursor, uint8_t size)
{
    switch (size) {
    case 8:
        return cursor_u64(cursor, cut);
    case 4:
        return cursor_u32(cursor, cut);
    default:
        cursor_fail(cursor, "addresses have an unknown size");
        return 0;
    }
}

const char *jd_dwarf_string(struct span section, uint64_t offset)
{
    if (offset >= section.size ||
        memchr(section.data + offset, 0, (size_t)(section.size - offset)) == NULL)
        return NULL;
    return (const char *)section.data + offset;
}

/* The `index`th entry of `size` bytes behind `base`. */
static bool table_entry(struct span section, uint64_t base, uint64_t index, unsigned int size,
                        uint64_t *offset)
{
    if (base > section.size || index >= (section.size - base) / size)
        return false;
    *offset = base + index * size;
    return true;
}

bool jd_dwarf_indexed_address(const struct dwarf_unit *unit, uint64_t index, uint64_t *address)
{
    uint64_t offset;
    if (unit->address_size == 0 ||
        !table_entry(unit->dwarf->addr, unit->addr_base, index, unit->address_size, &offset))
        return false;
    struct cursor cursor = jd_dwarf_cursor(unit->dwarf, unit->dwarf->addr, offset);
    *address = jd_dwarf_address(&cursor, unit->address_size);
    return cursor.error == NULL;
}

static struct dwarf_value indexed_string(const struct dwarf_unit *unit, uint64_t index)
{
    uint64_t offset;
    if (!table_entry(unit->dwarf->str_offsets, unit->str_offsets_base, index, unit->is_64 ? 8 : 4,
                     &offset))
        return (struct dwarf_value){0};
    struct cursor cursor = jd_dwarf_cursor(unit->dwarf, unit->dwarf->str_offsets, offset);
    return (struct dwarf_value){
        .class = DWARF_STRING,
        .string = jd_dwarf_string(unit->dwarf->str, jd_dwarf_offset(&cursor, unit->is_64))};
}

static struct dwarf_value indexed_address(const struct dwarf_unit *unit, uint64_t index)
{
    struct dwarf_value value = {.class = DWARF_ADDRESS};
    if (!jd_dwarf_indexed_address(unit, index, &value.number))
        value.class = DWARF_NONE;
    return value;
}

static uint64_t u24(struct cursor *cursor)
{
    const uint64_t a = cursor_u8(cursor, cut), b = cursor_u8(cursor, cut), c = cursor_u8(cursor, cut);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const bool big = cursor->swapped;
#else
    const bool big = !cursor->swapped;
#endif
    return big ? a << 16 | b << 8 | c : c << 16 | b << 8 | a;
}

static struct dwarf_value number(uint64_t number)
{
    return (struct dwarf_value){.class = DWARF_NUMBER, .number = number};
}

/* A reference that counts from the unit's start. */
static struct dwarf_value reference(const struct dwarf_unit *unit, uint64_t offset)
{
    return (struct dwarf_value){.class = DWARF_REFERENCE, .number = unit->offset + offset};
}

static struct dwarf_value string(const char *text)
{
    return (struct dwarf_value){.class = text != NULL ? DWARF_STRING : DWARF_NONE, .string = text};
}

static struct dwarf_value skipped(struct cursor *cursor, uint64_t size)
{
    cursor_take(cursor, size, cut);
    return (struct dwarf_value){0};
}

/* Strings and addresses, also by index. False: the form is none of these. */
static bool read_text_or_address(struct cursor *cursor, const struct dwarf_unit *unit, uint64_t form,
                                 struct dwarf_value *value)
{
    const struct dwarf *const dwarf = unit->dwarf;
    switch (form) {
    case DW_FORM_string:
        *value = string((const char *)cursor_string(cursor, cut).data);
        return true;
    case DW_FORM_strp:
        *value = string(jd_dwarf_string(dwarf->str, jd_dwarf_offset(cursor, unit->is_64)));
        return true;
    case DW_FORM_line_strp:
        *value = string(jd_dwarf_string(dwarf->line_str, jd_dwarf_offset(cursor, unit->is_64)));
        return true;
    case DW_FORM_strx:
        *value = indexed_string(unit, jd_cursor_uleb128(cursor, cut));
        return true;
    case DW_FORM_strx1:
        *value = indexed_string(unit, cursor_u8(cursor, cut));
        return true;
    case DW_FORM_strx2:
        *value = indexed_string(unit, cursor_u16(cursor, cut));
        return true;
    case DW_FORM_strx3:
        *value = indexed_string(unit, u24(cursor));
        return true;
    case DW_FORM_strx4:
        *value = indexed_string(unit, cursor_u32(cursor, cut));
        return true;
    case DW_FORM_addr:
        *value = (struct dwarf_value){.class = DWARF_ADDRESS,
                                      .number = jd_dwarf_address(cursor, unit->address_size)};
        return true;
    case DW_FORM_addrx:
        *value = indexed_address(unit, jd_cursor_uleb128(cursor, cut));
        return true;
    case DW_FORM_addrx1:
        *value = indexed_address(unit, cursor_u8(cursor, cut));
        return true;
    case DW_FORM_addrx2:
        *value = indexed_address(unit, cursor_u16(cursor, cut));
        return true;
    case DW_FORM_addrx3:
        *value = indexed_address(unit, u24(cursor));
        return true;
    case DW_FORM_addrx4:
        *value = indexed_address(unit, cursor_u32(cursor, cut));
        return true;
    default:
        return false;
    }
}

/* Numbers, offsets and references. False: the form is none of these. */
static bool read_number(struct cursor *cursor, const struct dwarf_unit *unit, uint64_t form,
                        int64_t implicit, struct dwarf_value *value)
{
    switch (form) {
    case DW_FORM_data1:
    case DW_FORM_flag:
        *value = number(cursor_u8(cursor, cut));
        return true;
    case DW_FORM_data2:
        *value = number(cursor_u16(cursor, cut));
        return true;
    case DW_FORM_data4:
        *value = number(cursor_u32(cursor, cut));
        break;
    case DW_FORM_data8:
        *value = number(cursor_u64(cursor, cut));
        break;
    case DW_FORM_sdata:
        *value = number((uint64_t)jd_cursor_sleb128(cursor, cut));
        return true;
    case DW_FORM_udata:
        *value = number(jd_cursor_uleb128(cursor, cut));
        return true;
    case DW_FORM_flag_present:
        *value = number(1);
        return true;
    case DW_FORM_implicit_const:
        *value = number((uint64_t)implicit);
        return true;
    case DW_FORM_sec_offset:
        *value = (struct dwarf_value){.class = DWARF_OFFSET,
                                      .number = jd_dwarf_offset(cursor, unit->is_64)};
        return true;
    case DW_FORM_rnglistx:
        *value = (struct dwarf_value){.class = DWARF_RANGE_INDEX,
                                      .number = jd_cursor_uleb128(cursor, cut)};
        return true;
    case DW_FORM_ref1:
        *value = reference(unit, cursor_u8(cursor, cut));
        return true;
    case DW_FORM_ref2:
        *value = reference(unit, cursor_u16(cursor, cut));
        return true;
    case DW_FORM_ref4:
        *value = reference(unit, cursor_u32(cursor, cut));
        return true;
    case DW_FORM_ref8:
        *value = reference(unit, cursor_u64(cursor, cut));
        return true;
    case DW_FORM_ref_udata:
        *value = reference(unit, jd_cursor_uleb128(cursor, cut));
        return true;
    case DW_FORM_ref_addr:
        *value = (struct dwarf_value){
            .class = DWARF_REFERENCE,
            .number = unit->version == 2 ? jd_dwarf_address(cursor, unit->address_size)
                                         : jd_dwarf_offset(cursor, unit->is_64)};
        return true;
    default:
        return false;
    }
    if (unit->version < 4) /* before sec_offset came */
        value->class = DWARF_OFFSET;
    return true;
}

/* Steps over a value that is not used. False: the form is not known. */
static bool skip(struct cursor *cursor, const struct dwarf_unit *unit, uint64_t form,
                 struct dwarf_value *value)
{
    switch (form) {
    case DW_FORM_block1:
        *value = skipped(cursor, cursor_u8(cursor, cut));
        return true;
    case DW_FORM_block2:
        *value = skipped(cursor, cursor_u16(cursor, cut));
        return true;
    case DW_FORM_block4:
        *value = skipped(cursor, cursor_u32(cursor, cut));
        return true;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        *value = skipped(cursor, jd_cursor_uleb128(cursor, cut));
        return true;
    case DW_FORM_data16:
        *value = skipped(cursor, 16);
        return true;
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        *value = skipped(cursor, 8);
        return true;
    case DW_FORM_ref_sup4:
        *value = skipped(cursor, 4);
        return true;
    case DW_FORM_strp_sup:
        *value = skipped(cursor, unit->is_64 ? 8 : 4);
        return true;
    case DW_FORM_loclistx:
        jd_cursor_uleb128(cursor, cut);
        *value = (struct dwarf_value){0};
        return true;
    default:
        return false;
    }
}

bool jd_dwarf_form(struct cursor *cursor, const struct dwarf_unit *unit, uint64_t form,
                   int64_t implicit, struct dwarf_value *value)
{
    *value = (struct dwarf_value){0};
    /* Once: DW_FORM_indirect must not name itself again. */
    if (form == DW_FORM_indirect)
        form = jd_cursor_uleb128(cursor, cut);
    if (!read_text_or_address(cursor, unit, form, value) &&
        !read_number(cursor, unit, form, implicit, value) && !skip(cursor, unit, form, value))
        cursor_fail(cursor, "an attribute has an unknown form");
    return cursor->error == NULL;
}
