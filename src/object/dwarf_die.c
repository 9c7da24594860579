#include "dwarf_die.h"

#include "dwarf_names.h"

static const char cut[] = "a unit ends too early";

enum unit_type { DW_UT_compile = 1, DW_UT_type = 2, DW_UT_partial = 3 };

bool jd_dwarf_cu_read(struct cursor *cursor, const struct dwarf *dwarf, struct dwarf_cu *cu)
{
    const unsigned char *const end = cursor->end;
    bool known = true;
    *cu = (struct dwarf_cu){.unit = {.dwarf = dwarf, .offset = cursor_offset(cursor)}};
    if (!jd_dwarf_length(cursor, &cu->unit.is_64))
        return false;
    struct cursor header = *cursor;
    cu->end = cursor_offset(cursor) + cursor_left(cursor);
    cursor->at = cursor->end;
    cursor->end = end;
    cu->unit.version = cursor_u16(&header, cut);
    if (cu->unit.version >= 5) {
        const uint8_t type = cursor_u8(&header, cut);
        known = type == DW_UT_compile || type == DW_UT_partial;
        cu->unit.address_size = cursor_u8(&header, cut);
        cu->abbrev_offset = jd_dwarf_offset(&header, cu->unit.is_64);
    } else {
        cu->abbrev_offset = jd_dwarf_offset(&header, cu->unit.is_64);
        cu->unit.address_size = cursor_u8(&header, cut);
    }
    cu->entries = cursor_offset(&header);
    /* Tables of version 5 begin with a header. The base that a unit gives points behind it. */
    cu->unit.str_offsets_base = cu->unit.is_64 ? 16 : 8;
    cu->unit.addr_base = cu->unit.is_64 ? 16 : 8;
    cu->unit.rnglists_base = cu->unit.is_64 ? 20 : 12;
    return known && header.error == NULL && cu->unit.version >= 2 && cu->unit.version <= 5;
}

static const char *string_of(const struct dwarf_value *value)
{
    return value->class == DWARF_STRING ? value->string : NULL;
}

static void take(struct dwarf_die *die, uint64_t attribute, const struct dwarf_value *value)
{
    switch (attribute) {
    case DW_AT_name:
        die->name = string_of(value);
        break;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
        die->linkage_name = string_of(value);
        break;
    case DW_AT_comp_dir:
        die->directory = string_of(value);
        break;
    case DW_AT_low_pc:
        die->low = *value;
        break;
    case DW_AT_high_pc:
        die->high = *value;
        break;
    case DW_AT_ranges:
        die->ranges = *value;
        break;
    case DW_AT_abstract_origin:
    case DW_AT_specification:
        die->origin = *value;
        break;
    case DW_AT_stmt_list:
        die->lines = *value;
        break;
    case DW_AT_decl_file:
        die->decl_file = value->number;
        break;
    case DW_AT_decl_line:
        die->decl_line = value->number;
        break;
    case DW_AT_call_file:
        die->call_file = value->number;
        break;
    case DW_AT_call_line:
        die->call_line = value->number;
        break;
    case DW_AT_call_column:
        die->call_column = value->number;
        break;
    default:
        break;
    }
}

static void take_base(struct dwarf_unit *unit, uint64_t attribute, const struct dwarf_value *value)
{
    if (attribute == DW_AT_str_offsets_base)
        unit->str_offsets_base = value->number;
    else if (attribute == DW_AT_addr_base)
        unit->addr_base = value->number;
    else if (attribute == DW_AT_rnglists_base)
        unit->rnglists_base = value->number;
}

/* `bases`: NULL, or where to put what the entry says of the unit. */
static bool read_die(struct cursor *cursor, const struct dwarf_unit *unit, struct dwarf_unit *bases,
                     const struct dwarf_abbrevs *abbrevs, struct dwarf_die *die)
{
    *die = (struct dwarf_die){0};
    const uint64_t code = jd_cursor_uleb128(cursor, cut);
    if (code == 0 || cursor->error != NULL)
        return cursor->error == NULL;
    const struct dwarf_abbrev *const abbrev = jd_dwarf_abbrev(abbrevs, code);
    if (abbrev == NULL) {
        cursor_fail(cursor, "an entry has an unknown abbreviation");
        return false;
    }
    struct cursor attributes =
        jd_dwarf_cursor(unit->dwarf, unit->dwarf->abbrev, abbrev->attributes);
    uint64_t attribute, form;
    int64_t implicit;
    die->tag = abbrev->tag;
    die->has_children = abbrev->has_children;
    while (jd_dwarf_abbrev_attribute(&attributes, &attribute, &form, &implicit)) {
        struct dwarf_value value;
        if (!jd_dwarf_form(cursor, unit, form, implicit, &value))
            return false;
        take(die, attribute, &value);
        if (bases != NULL)
            take_base(bases, attribute, &value);
    }
    return true;
}

bool jd_dwarf_die_read(struct cursor *cursor, const struct dwarf_unit *unit,
                       const struct dwarf_abbrevs *abbrevs, struct dwarf_die *die)
{
    return read_die(cursor, unit, NULL, abbrevs, die);
}

/* Read twice: the bases may come after the attributes that need them. */
bool jd_dwarf_cu_describe(struct dwarf_cu *cu, const struct dwarf_abbrevs *abbrevs)
{
    struct cursor cursor = jd_dwarf_cursor(cu->unit.dwarf, cu->unit.dwarf->info, cu->entries);
    struct cursor again = cursor;
    struct dwarf_unit unit = cu->unit;
    if (!read_die(&cursor, &cu->unit, &unit, abbrevs, &cu->die))
        return false;
    cu->unit = unit;
    return read_die(&again, &cu->unit, NULL, abbrevs, &cu->die);
}
