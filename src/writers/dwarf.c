/*
 * What the readers want beyond the standard, each tried on that reader:
 *
 * - Version 4: of version 5's line tables binutils 2.40 takes file 1 for file 0.
 * - About 100 functions in a unit: binutils looks through all of a unit for each address.
 * - DW_AT_language, one without mangled names: else binutils names the innermost function after the
 *   ELF symbol.
 * - The unit's low_pc and high_pc: llvm-symbolizer. .debug_aranges: eu-addr2line.
 * - call_file and call_line: gdb ignores an inlined call that has none.
 * - An abstract origin, and no name of its own: eu-addr2line does.
 * - The origin's decl_file: perf from 7.0 on, by libdw, says no call_line without it.
 */
#include "writers/dwarf.h"

#include <stdlib.h>

enum {
    DW_TAG_compile_unit = 0x11,
    DW_TAG_inlined_subroutine = 0x1d,
    DW_TAG_subprogram = 0x2e,

    DW_AT_name = 0x03,
    DW_AT_stmt_list = 0x10,
    DW_AT_low_pc = 0x11,
    DW_AT_high_pc = 0x12,
    DW_AT_language = 0x13,
    DW_AT_inline = 0x20,
    DW_AT_abstract_origin = 0x31,
    DW_AT_decl_file = 0x3a,
    DW_AT_ranges = 0x55,
    DW_AT_call_column = 0x57,
    DW_AT_call_file = 0x58,
    DW_AT_call_line = 0x59,

    DW_FORM_addr = 0x01,
    DW_FORM_data4 = 0x06,
    DW_FORM_data8 = 0x07,
    DW_FORM_data1 = 0x0b,
    DW_FORM_strp = 0x0e,
    DW_FORM_udata = 0x0f,
    DW_FORM_ref4 = 0x13,
    DW_FORM_sec_offset = 0x17,

    DW_LANG_C99 = 0x0c,
    DW_INL_inlined = 0x01
};

enum { FUNCTIONS_OF_A_UNIT = 100 };

/* Of entries with children. That of those without is one higher. */
enum abbreviation {
    UNIT = 1,
    FUNCTION = 3,
    CALL_OF_ONE_RANGE = 5,
    CALL_OF_RANGES = 7,
    INLINED_FUNCTION = 9 /* never has any */
};

/* In .debug_abbrev everything is below 0x80, and so its LEB128 is a byte. */
static void put_abbreviation(struct bytes *abbrev, unsigned code, unsigned tag,
                             const unsigned char *attributes, size_t size)
{
    for (unsigned childless = 0; childless < 2; childless++) {
        bytes_u8(abbrev, code + childless);
        bytes_u8(abbrev, tag);
        bytes_u8(abbrev, !childless);
        bytes_copy(abbrev, attributes, size);
        bytes_u16(abbrev, 0);
    }
}

static void put_abbreviations(struct bytes *abbrev)
{
    static const unsigned char unit[] = {
        DW_AT_language, DW_FORM_data1, DW_AT_stmt_list, DW_FORM_sec_offset,
        DW_AT_low_pc,   DW_FORM_addr,  DW_AT_high_pc,   DW_FORM_data8};
    static const unsigned char function[] = {
        DW_AT_name, DW_FORM_strp, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4};
    static const unsigned char one_range[] = {
        DW_AT_abstract_origin, DW_FORM_ref4,  DW_AT_call_file,   DW_FORM_udata,
        DW_AT_call_line,       DW_FORM_udata, DW_AT_call_column, DW_FORM_udata,
        DW_AT_low_pc,          DW_FORM_addr,  DW_AT_high_pc,     DW_FORM_data4};
    static const unsigned char ranges[] = {
        DW_AT_abstract_origin, DW_FORM_ref4,  DW_AT_call_file,   DW_FORM_udata,
        DW_AT_call_line,       DW_FORM_udata, DW_AT_call_column, DW_FORM_udata,
        DW_AT_ranges,          DW_FORM_sec_offset};
    static const unsigned char inlined[] = {DW_AT_name,   DW_FORM_strp,      DW_AT_inline,
                                            DW_FORM_data1, DW_AT_decl_file, DW_FORM_udata};
    put_abbreviation(abbrev, UNIT, DW_TAG_compile_unit, unit, sizeof(unit));
    put_abbreviation(abbrev, FUNCTION, DW_TAG_subprogram, function, sizeof(function));
    put_abbreviation(abbrev, CALL_OF_ONE_RANGE, DW_TAG_inlined_subroutine, one_range,
                     sizeof(one_range));
    put_abbreviation(abbrev, CALL_OF_RANGES, DW_TAG_inlined_subroutine, ranges, sizeof(ranges));
    put_abbreviation(abbrev, INLINED_FUNCTION, DW_TAG_subprogram, inlined, sizeof(inlined));
    bytes_u8(abbrev, 0);
}

void dwarf_init(struct dwarf *dwarf, bool big_endian, uint8_t address_size)
{
    *dwarf = (struct dwarf){.address_size = address_size};
    struct bytes *const sections[] = {&dwarf->abbrev, &dwarf->info,    &dwarf->line,
                                      &dwarf->ranges, &dwarf->aranges, &dwarf->program.bytes};
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        sections[i]->big_endian = big_endian;
    dwarf->program.address_size = address_size;
    /* "??" is what tools print for a file that is not known. */
    described_texts_init(&dwarf->texts, TEXT_BYTES, "??");
    put_abbreviations(&dwarf->abbrev);
}

void dwarf_free(struct dwarf *dwarf)
{
    bytes_free(&dwarf->abbrev);
    bytes_free(&dwarf->info);
    bytes_free(&dwarf->line);
    bytes_free(&dwarf->ranges);
    bytes_free(&dwarf->aranges);
    bytes_free(&dwarf->program.bytes);
    bytes_free(&dwarf->boundaries);
    described_texts_free(&dwarf->texts);
    free(dwarf->inlined);
    dwarf->inlined = NULL;
}

static void put_address(const struct dwarf *dwarf, struct bytes *to, uint64_t address)
{
    bytes_put(to, address, dwarf->address_size);
}

/* Units */

static void begin_unit(struct dwarf *dwarf, uint64_t address)
{
    struct bytes *const info = &dwarf->info;
    dwarf->unit++;
    dwarf->unit_start = info->size;
    dwarf->unit_low = address;
    bytes_u32(info, 0); /* the length */
    bytes_u16(info, 4); /* DWARF's version */
    bytes_u32(info, 0); /* the abbreviations' offset */
    bytes_u8(info, dwarf->address_size);
    bytes_u8(info, UNIT);
    bytes_u8(info, DW_LANG_C99);
    bytes_u32(info, dwarf->line.size);
    put_address(dwarf, info, address);
    dwarf->unit_high_pc = info->size;
    bytes_put(info, 0, 8);
}

static void put_arange(struct dwarf *dwarf)
{
    struct bytes *const aranges = &dwarf->aranges;
    const size_t start = aranges->size;
    bytes_u32(aranges, 0); /* the length */
    bytes_u16(aranges, 2); /* the version */
    bytes_u32(aranges, dwarf->unit_start);
    bytes_u8(aranges, dwarf->address_size);
    bytes_u8(aranges, 0); /* no segments */
    bytes_align(aranges, 2U * dwarf->address_size);
    put_address(dwarf, aranges, dwarf->unit_low);
    put_address(dwarf, aranges, dwarf->unit_high - dwarf->unit_low);
    bytes_zeros(aranges, 2U * dwarf->address_size);
    bytes_put_length(aranges, start);
}

static void end_unit(struct dwarf *dwarf)
{
    if (dwarf->unit_functions == 0)
        return;
    bytes_u8(&dwarf->info, 0); /* no more functions */
    bytes_put_at(&dwarf->info, dwarf->unit_high_pc, dwarf->unit_high - dwarf->unit_low, 8);
    bytes_put_length(&dwarf->info, dwarf->unit_start);
    put_arange(dwarf);
    line_program_write(&dwarf->program, &dwarf->texts.files, &dwarf->line);
    string_table_reset(&dwarf->texts.files);
    dwarf->unit_functions = 0;
}

/* Functions that are inlined: each unit says once of each that it has such a function, before
 * what is inlined refers to that. */

static bool grow_inlined(struct dwarf *dwarf)
{
    const uint32_t count = 2 * dwarf->texts.names.string_count + 1;
    void *const inlined = realloc(dwarf->inlined, count * sizeof(*dwarf->inlined));
    if (inlined == NULL)
        return false;
    dwarf->inlined = inlined;
    memset(dwarf->inlined + dwarf->inlined_count, 0,
           (count - dwarf->inlined_count) * sizeof(*dwarf->inlined));
    dwarf->inlined_count = count;
    return true;
}

static void put_inlined_function(struct dwarf *dwarf, const struct description *description,
                                 const struct inlined_call *call)
{
    const struct described_function *const function = &description->functions[call->function];
    const struct table_string known = described_name(&dwarf->texts, description, function->name);
    if (known.number >= dwarf->inlined_count && !grow_inlined(dwarf)) {
        dwarf->failed = true;
        return;
    }
    struct inlined_function *const inlined = &dwarf->inlined[known.number];
    if (inlined->unit == dwarf->unit)
        return;
    *inlined = (struct inlined_function){dwarf->unit,
                                         (uint32_t)(dwarf->info.size - dwarf->unit_start)};
    bytes_u8(&dwarf->info, INLINED_FUNCTION + 1);
    bytes_u32(&dwarf->info, known.offset);
    bytes_u8(&dwarf->info, DW_INL_inlined);
    bytes_uleb128(&dwarf->info, described_file(&dwarf->texts, description, function->file));
}

static uint32_t inlined_function(struct dwarf *dwarf, const struct description *description,
                                 uint32_t name)
{
    return dwarf->inlined[described_name(&dwarf->texts, description, name).number].offset;
}

/* Functions */

static bool is_row(const struct description *description, uint32_t code_offset)
{
    uint32_t first = 0, end = description->row_count;
    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;
        if (description->rows[middle].code_offset < code_offset)
            first = middle + 1;
        else
            end = middle;
    }
    return first < description->row_count && description->rows[first].code_offset == code_offset;
}

static int compare_offsets(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Where inlined calls begin and end and no row does, ascending, each once or more. */
static size_t find_boundaries(struct dwarf *dwarf, const struct description *description)
{
    struct bytes *const found = &dwarf->boundaries;
    found->size = 0;
    for (uint32_t i = 0; i < description->range_count; i++) {
        const uint32_t ends[2] = {description->ranges[i].begin, description->ranges[i].end};
        for (size_t k = 0; k < 2; k++)
            if (!is_row(description, ends[k]))
                bytes_copy(found, &ends[k], sizeof(ends[k]));
    }
    const size_t count = found->size / sizeof(uint32_t);
    if (count > 1)
        qsort(found->data, count, sizeof(uint32_t), compare_offsets);
    return count;
}

/* An inlined call gets a row where it begins and where it ends: eu-addr2line takes the chain of
 * calls from where the row begins, and gdb sets breakpoints there. */
static void put_rows(struct dwarf *dwarf, uint64_t address, uint64_t size,
                     const struct description *description)
{
    const size_t boundary_count = find_boundaries(dwarf, description);
    const unsigned char *boundary = dwarf->boundaries.data;
    const unsigned char *const end =
        boundary_count > 0 ? boundary + dwarf->boundaries.size : boundary;
    uint32_t file = 0, file_of = DESCRIPTION_NONE; /* most rows have that of the one before */
    for (uint32_t i = 0; i < description->row_count; i++) {
        const struct line_row *const row = &description->rows[i];
        const uint64_t next = i + 1 < description->row_count ? row[1].code_offset : size;
        if (row->line == 0) { /* gdb 13 ignores a row of line 0: the line before it would go on */
            line_program_end_sequence(&dwarf->program, address + row->code_offset);
            continue;
        }
        if (file == 0 || row->file != file_of) {
            file_of = row->file;
            file = described_file(&dwarf->texts, description, file_of);
        }
        uint32_t offset = row->code_offset;
        line_program_row(&dwarf->program, address + offset, file, row->line, row->column);
        for (; boundary < end; boundary += sizeof(uint32_t)) {
            uint32_t at;
            memcpy(&at, boundary, sizeof(at));
            if (at >= next)
                break;
            if (at > offset) {
                offset = at;
                line_program_row(&dwarf->program, address + at, file, row->line, row->column);
            }
        }
    }
    line_program_end_sequence(&dwarf->program, address + size);
}

static void put_ranges(struct dwarf *dwarf, uint64_t address, const struct code_range *ranges,
                       uint32_t count)
{
    const uint64_t base = address - dwarf->unit_low;
    for (uint32_t i = 0; i < count; i++) {
        put_address(dwarf, &dwarf->ranges, base + ranges[i].begin);
        put_address(dwarf, &dwarf->ranges, base + ranges[i].end);
    }
    bytes_zeros(&dwarf->ranges, 2U * dwarf->address_size);
}

static void put_call(struct dwarf *dwarf, uint64_t address, const struct description *description,
                     const struct inlined_call *call, bool has_children)
{
    struct bytes *const info = &dwarf->info;
    const struct code_range *const ranges = &description->ranges[call->first_range];
    const unsigned abbreviation = call->range_count == 1 ? CALL_OF_ONE_RANGE : CALL_OF_RANGES;
    bytes_u8(info, abbreviation + !has_children);
    bytes_u32(info, inlined_function(dwarf, description,
                                     description->functions[call->function].name));
    bytes_uleb128(info, described_file(&dwarf->texts, description, call->call_file));
    bytes_uleb128(info, call->call_line);
    bytes_uleb128(info, call->call_column);
    if (call->range_count == 1) {
        put_address(dwarf, info, address + ranges->begin);
        bytes_u32(info, ranges->end - ranges->begin);
    } else {
        bytes_u32(info, dwarf->ranges.size);
        put_ranges(dwarf, address, ranges, call->range_count);
    }
}

static void put_calls(struct dwarf *dwarf, uint64_t address, const struct description *description)
{
    for (uint32_t i = 0; i < description->call_count; i++) {
        const struct inlined_call *const call = &description->calls[i];
        const bool is_last = i + 1 == description->call_count;
        /* Of the next one; 0 and then one more ends the function's own list. */
        const uint32_t depth = is_last ? 0 : call[1].depth;
        put_call(dwarf, address, description, call, !is_last && depth > call->depth);
        if (is_last || depth < call->depth)
            bytes_zeros(&dwarf->info, call->depth - depth + is_last);
    }
}

struct table_string dwarf_add(struct dwarf *dwarf, struct span name, uint64_t address,
                              uint64_t size, const struct description *description)
{
    const struct table_string none = {0, 0};
    struct bytes *const info = &dwarf->info;
    if (!described_texts_begin(&dwarf->texts, description))
        return none;
    if (dwarf->unit_functions == FUNCTIONS_OF_A_UNIT)
        end_unit(dwarf);
    if (dwarf->unit_functions++ == 0)
        begin_unit(dwarf, address);
    dwarf->unit_high = address + size;

    for (uint32_t i = 0; i < description->call_count; i++)
        put_inlined_function(dwarf, description, &description->calls[i]);
    if (dwarf->failed)
        return none;
    const struct table_string own_name = described_own_name(&dwarf->texts, name);
    bytes_u8(info, FUNCTION + (description->call_count == 0));
    bytes_u32(info, own_name.offset);
    put_address(dwarf, info, address);
    bytes_u32(info, size);
    put_rows(dwarf, address, size, description);
    put_calls(dwarf, address, description);
    return own_name;
}

enum dwarf_error dwarf_finish(struct dwarf *dwarf)
{
    end_unit(dwarf);
    const struct bytes *const sections[] = {&dwarf->abbrev, &dwarf->info,    &dwarf->line,
                                            &dwarf->ranges, &dwarf->aranges, &dwarf->boundaries,
                                            &dwarf->texts.names.bytes};
    enum dwarf_error error =
        dwarf->failed || described_texts_failed(&dwarf->texts) ? DWARF_NO_MEMORY : DWARF_OK;
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        if (sections[i]->failed)
            return DWARF_NO_MEMORY;
        if (sections[i]->size > UINT32_MAX)
            error = DWARF_TOO_LARGE;
    }
    return error;
}
