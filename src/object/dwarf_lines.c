#include "dwarf_lines.h"

#include "grow.h"

#include <stdlib.h>
#include <string.h>

static const char cut[] = "a line table ends too early";

enum standard_opcode {
    DW_LNS_copy = 1,
    DW_LNS_advance_pc = 2,
    DW_LNS_advance_line = 3,
    DW_LNS_set_file = 4,
    DW_LNS_set_column = 5,
    DW_LNS_negate_stmt = 6,
    DW_LNS_set_basic_block = 7,
    DW_LNS_const_add_pc = 8,
    DW_LNS_fixed_advance_pc = 9,
    DW_LNS_set_prologue_end = 10,
    DW_LNS_set_epilogue_begin = 11,
    DW_LNS_set_isa = 12
};
enum extended_opcode { DW_LNE_end_sequence = 1, DW_LNE_set_address = 2, DW_LNE_define_file = 3 };

struct program {
    struct cursor cursor;
    struct dwarf_lines *lines;
    struct dwarf_line_table *table;
    uint8_t minimum_instruction;
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    /* How many operands each opcode has, from the first on. */
    const unsigned char *operands;
    uint8_t address_size;
    /* The registers. */
    uint64_t address;
    uint64_t file;
    uint64_t line;
    uint64_t column;
    /* The first row of the sequence. */
    size_t sequence;
};

static void reset(struct program *program)
{
    program->address = 0;
    program->file = 1;
    program->line = 1;
    program->column = 0;
    program->sequence = program->lines->row_count;
}

static uint32_t file_of(const struct dwarf_line_table *table, uint64_t number)
{
    const uint64_t index = table->from_zero ? number : number - 1;
    return index < table->file_count ? table->first_file + (uint32_t)index : UINT32_MAX;
}

static void put_row(struct program *program, bool is_end)
{
    struct dwarf_lines *const lines = program->lines;
    if (!grow((void **)&lines->rows, &lines->row_capacity, lines->row_count, sizeof(*lines->rows))) {
        lines->no_memory = true;
        return;
    }
    lines->rows[lines->row_count++] = (struct dwarf_row){
        .address = program->address,
        .file = file_of(program->table, program->file),
        .line = program->line <= UINT32_MAX ? (uint32_t)program->line : 0,
        .column = program->column <= UINT32_MAX ? (uint32_t)program->column : 0,
        .is_end = is_end};
}

/* A sequence at address 0 is of a function that was left out. */
static void end_sequence(struct program *program)
{
    struct dwarf_lines *const lines = program->lines;
    put_row(program, true);
    if (program->sequence < lines->row_count && lines->rows[program->sequence].address == 0)
        lines->row_count = program->sequence;
    reset(program);
}

static void advance(struct program *program, uint64_t operations)
{
    program->address += operations * program->minimum_instruction;
}

static void run_extended(struct program *program)
{
    struct cursor *const cursor = &program->cursor;
    const uint64_t size = jd_cursor_uleb128(cursor, cut);
    struct cursor operands = *cursor;
    if (cursor_take(cursor, size, cut) == NULL || size == 0)
        return;
    operands.end = operands.at + size;
    switch (cursor_u8(&operands, cut)) {
    case DW_LNE_end_sequence:
        end_sequence(program);
        break;
    case DW_LNE_set_address:
        program->address = jd_dwarf_address(&operands, (uint8_t)(size - 1));
        break;
    case DW_LNE_define_file:
        jd_dwarf_line_file(&operands, &program->lines->files, program->table);
        break;
    default:
        break;
    }
    if (operands.error != NULL)
        cursor_fail(cursor, operands.error);
}

static void run_standard(struct program *program, uint8_t opcode)
{
    struct cursor *const cursor = &program->cursor;
    switch (opcode) {
    case DW_LNS_copy:
        put_row(program, false);
        break;
    case DW_LNS_advance_pc:
        advance(program, jd_cursor_uleb128(cursor, cut));
        break;
    case DW_LNS_advance_line:
        program->line += (uint64_t)jd_cursor_sleb128(cursor, cut);
        break;
    case DW_LNS_set_file:
        program->file = jd_cursor_uleb128(cursor, cut);
        break;
    case DW_LNS_set_column:
        program->column = jd_cursor_uleb128(cursor, cut);
        break;
    case DW_LNS_const_add_pc:
        advance(program, (uint64_t)(255 - program->opcode_base) / program->line_range);
        break;
    case DW_LNS_fixed_advance_pc:
        program->address += cursor_u16(cursor, cut);
        break;
    case DW_LNS_negate_stmt:
    case DW_LNS_set_basic_block:
    case DW_LNS_set_prologue_end:
    case DW_LNS_set_epilogue_begin:
        break;
    case DW_LNS_set_isa:
    default:
        for (uint8_t i = 0; i < program->operands[opcode - 1]; i++)
            jd_cursor_uleb128(cursor, cut);
        break;
    }
}

static void run(struct program *program)
{
    reset(program);
    while (cursor_left(&program->cursor) > 0 && !program->lines->no_memory &&
           !program->lines->files.no_memory) {
        const uint8_t opcode = cursor_u8(&program->cursor, cut);
        if (opcode == 0) {
            run_extended(program);
        } else if (opcode < program->opcode_base) {
            run_standard(program, opcode);
        } else {
            const int adjusted = opcode - program->opcode_base;
            advance(program, (uint64_t)(adjusted / program->line_range));
            program->line += (uint64_t)(int64_t)(program->line_base + adjusted % program->line_range);
            put_row(program, false);
        }
    }
    /* A sequence without an end covers nothing. */
    program->lines->row_count = program->sequence;
}

/* From the version on up to the files. */
static void read_header(struct program *program, struct dwarf_unit *unit, const char *directory)
{
    struct cursor *const cursor = &program->cursor;
    unit->version = cursor_u16(cursor, cut);
    if (unit->version < 2 || unit->version > 5) {
        cursor_fail(cursor, "a line table has an unknown version");
        return;
    }
    if (unit->version >= 5) {
        unit->address_size = cursor_u8(cursor, cut);
        cursor_u8(cursor, cut); /* segment selectors */
    }
    const uint64_t header_size = jd_dwarf_offset(cursor, unit->is_64);
    struct cursor header = *cursor;
    if (cursor_take(cursor, header_size, cut) == NULL && header_size != 0)
        return;
    header.end = cursor->at;
    program->minimum_instruction = cursor_u8(&header, cut);
    if (unit->version >= 4)
        cursor_u8(&header, cut); /* operations per instruction: 1 but on VLIW machines */
    cursor_u8(&header, cut);     /* is_stmt at the beginning: rows count either way */
    program->line_base = (int8_t)cursor_u8(&header, cut);
    program->line_range = cursor_u8(&header, cut);
    program->opcode_base = cursor_u8(&header, cut);
    if (header.error == NULL && (program->line_range == 0 || program->opcode_base == 0))
        cursor_fail(&header, "a line table divides by 0");
    program->operands = cursor_take(&header, (uint64_t)(program->opcode_base - 1), cut);
    jd_dwarf_line_files(&header, unit, directory, &program->lines->files, program->table);
    if (header.error != NULL)
        cursor_fail(cursor, header.error);
}

const char *jd_dwarf_lines_add(struct dwarf_lines *lines, const struct dwarf *dwarf, uint64_t offset,
                               const char *directory, uint8_t address_size)
{
    struct dwarf_unit unit = {.dwarf = dwarf, .address_size = address_size};
    struct program program = {.cursor = jd_dwarf_cursor(dwarf, dwarf->line, offset), .lines = lines};
    for (size_t i = 0; i < lines->table_count; i++)
        if (lines->tables[i].offset == offset)
            return NULL; /* of another unit too */
    if (!grow((void **)&lines->tables, &lines->table_capacity, lines->table_count,
              sizeof(*lines->tables)) ||
        lines->files.count > UINT32_MAX / 2) {
        lines->no_memory = true;
        return "out of memory";
    }
    program.table = &lines->tables[lines->table_count++];
    *program.table =
        (struct dwarf_line_table){.offset = offset, .first_file = (uint32_t)lines->files.count};
    if (!jd_dwarf_length(&program.cursor, &unit.is_64))
        return program.cursor.error;
    read_header(&program, &unit, directory);
    if (program.cursor.error == NULL)
        run(&program);
    return program.cursor.error;
}

/* Ends first, then in the order of the tables, which is kept in `order`. */
struct ordered {
    struct dwarf_row row;
    size_t order;
};

static int by_address(const void *left, const void *right)
{
    const struct ordered *const a = left;
    const struct ordered *const b = right;
    if (a->row.address != b->row.address)
        return a->row.address < b->row.address ? -1 : 1;
    if (a->row.is_end != b->row.is_end)
        return a->row.is_end ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

void jd_dwarf_lines_sort(struct dwarf_lines *lines)
{
    size_t kept = 0;
    struct ordered *const ordered = calloc(lines->row_count + 1, sizeof(*ordered));
    if (ordered == NULL) {
        lines->no_memory = true;
        lines->row_count = 0;
        return;
    }
    for (size_t i = 0; i < lines->row_count; i++)
        ordered[i] = (struct ordered){lines->rows[i], i};
    qsort(ordered, lines->row_count, sizeof(*ordered), by_address);
    for (size_t i = 0; i < lines->row_count; i++) {
        if (kept > 0 && lines->rows[kept - 1].address == ordered[i].row.address)
            kept--; /* of several at one address the last */
        lines->rows[kept++] = ordered[i].row;
    }
    lines->row_count = kept;
    free(ordered);
}

void jd_dwarf_lines_free(struct dwarf_lines *lines)
{
    for (size_t i = 0; i < lines->files.count; i++)
        free(lines->files.items[i]);
    free(lines->files.items);
    free(lines->rows);
    free(lines->tables);
    *lines = (struct dwarf_lines){0};
}

uint32_t jd_dwarf_lines_file(const struct dwarf_lines *lines, uint64_t offset, uint64_t number)
{
    for (size_t i = 0; i < lines->table_count; i++)
        if (lines->tables[i].offset == offset)
            return file_of(&lines->tables[i], number);
    return UINT32_MAX;
}

const struct dwarf_row *jd_dwarf_lines_at(const struct dwarf_lines *lines, uint64_t address)
{
    size_t low = 0;
    size_t high = lines->row_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (lines->rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && !lines->rows[low - 1].is_end ? &lines->rows[low - 1] : NULL;
}
