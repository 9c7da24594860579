#include "dwarf_abbrevs.h"

#include "dwarf_names.h"
#include "grow.h"

#include <stdlib.h>

static const char cut[] = "the table of abbreviations ends too early";

bool jd_dwarf_abbrev_attribute(struct cursor *cursor, uint64_t *attribute, uint64_t *form,
                               int64_t *implicit)
{
    *attribute = jd_cursor_uleb128(cursor, cut);
    *form = jd_cursor_uleb128(cursor, cut);
    *implicit = *form == DW_FORM_implicit_const ? jd_cursor_sleb128(cursor, cut) : 0;
    return cursor->error == NULL && (*attribute != 0 || *form != 0);
}

static int by_code(const void *left, const void *right)
{
    const uint64_t a = ((const struct dwarf_abbrev *)left)->code;
    const uint64_t b = ((const struct dwarf_abbrev *)right)->code;
    return (a > b) - (a < b);
}

bool jd_dwarf_abbrevs_read(struct dwarf_abbrevs *abbrevs, const struct dwarf *dwarf, uint64_t offset)
{
    struct cursor cursor = jd_dwarf_cursor(dwarf, dwarf->abbrev, offset);
    abbrevs->count = 0;
    while (cursor_left(&cursor) > 0) {
        struct dwarf_abbrev abbrev = {.code = jd_cursor_uleb128(&cursor, cut)};
        if (abbrev.code == 0)
            break;
        abbrev.tag = jd_cursor_uleb128(&cursor, cut);
        abbrev.has_children = cursor_u8(&cursor, cut) != 0;
        abbrev.attributes = cursor_offset(&cursor);
        uint64_t attribute, form;
        int64_t implicit;
        while (jd_dwarf_abbrev_attribute(&cursor, &attribute, &form, &implicit))
            ;
        if (cursor.error != NULL)
            break;
        if (!grow((void **)&abbrevs->items, &abbrevs->capacity, abbrevs->count, sizeof(abbrev)))
            return false;
        abbrevs->items[abbrevs->count++] = abbrev;
    }
    if (abbrevs->count != 0)
        qsort(abbrevs->items, abbrevs->count, sizeof(*abbrevs->items), by_code);
    return true;
}

void jd_dwarf_abbrevs_free(struct dwarf_abbrevs *abbrevs)
{
    free(abbrevs->items);
    *abbrevs = (struct dwarf_abbrevs){0};
}

const struct dwarf_abbrev *jd_dwarf_abbrev(const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
    const struct dwarf_abbrev key = {.code = code};
    return abbrevs->count != 0 ? bsearch(&key, abbrevs->items, abbrevs->count, sizeof(key), by_code)
                               : NULL;
}
