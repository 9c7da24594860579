#include "writers/line_program.h"

enum {
    DW_LNS_advance_pc = 2,
    DW_LNS_advance_line = 3,
    DW_LNS_set_file = 4,
    DW_LNS_set_column = 5,
    DW_LNS_copy = 1,
    DW_LNE_end_sequence = 1,
    DW_LNE_set_address = 2,

    /* A special opcode is a row by itself: LINE_BASE .. LINE_BASE + LINE_RANGE - 1 lines on, and up
     * to 16 bytes. */
    OPCODE_BASE = 13,
    LINE_BASE = -5,
    LINE_RANGE = 14,
    OPCODE_MAX = 255,

    ROW_MAX = 4 * (1 + LEB128_MAX) + 1, /* bytes of a row's opcodes */

    /* libdw refuses a unit's whole table at a column of more than 16 bits. */
    COLUMN_MAX = 65535
};

static void begin_sequence(struct line_program *program, uint64_t address)
{
    bytes_u8(&program->bytes, 0);
    bytes_u8(&program->bytes, 1U + program->address_size);
    bytes_u8(&program->bytes, DW_LNE_set_address);
    bytes_put(&program->bytes, address, program->address_size);
    program->in_sequence = true;
    program->address = address;
    program->file = 1;
    program->line = 1;
    program->column = 0;
}

static unsigned char *put_advance(unsigned char *to, uint64_t by)
{
    if (by == 0)
        return to;
    *to++ = DW_LNS_advance_pc;
    return put_uleb128(to, by);
}

void line_program_row(struct line_program *program, uint64_t address, uint32_t file, uint32_t line,
                      uint32_t column)
{
    if (!program->in_sequence)
        begin_sequence(program, address);
    unsigned char *to = bytes_room(&program->bytes, ROW_MAX);
    if (to == NULL)
        return;
    if (file != program->file) {
        *to++ = DW_LNS_set_file;
        to = put_uleb128(to, file);
    }
    if (column > COLUMN_MAX)
        column = 0;
    if (column != program->column) {
        *to++ = DW_LNS_set_column;
        to = put_uleb128(to, column);
    }
    int64_t lines = (int64_t)line - program->line;
    if (lines < LINE_BASE || lines >= LINE_BASE + LINE_RANGE) {
        *to++ = DW_LNS_advance_line;
        to = put_sleb128(to, lines);
        lines = 0;
    }
    uint64_t by = address - program->address;
    const unsigned first = (unsigned)(lines - LINE_BASE) + OPCODE_BASE;
    if (by > (OPCODE_MAX - first) / LINE_RANGE) {
        to = put_advance(to, by);
        by = 0;
    }
    *to++ = (unsigned char)(first + by * LINE_RANGE);
    program->bytes.size = (size_t)(to - program->bytes.data);
    program->address = address;
    program->file = file;
    program->line = line;
    program->column = column;
}

void line_program_end_sequence(struct line_program *program, uint64_t address)
{
    if (!program->in_sequence)
        return;
    program->in_sequence = false;
    unsigned char *to = bytes_room(&program->bytes, ROW_MAX);
    if (to == NULL)
        return;
    to = put_advance(to, address - program->address);
    *to++ = 0;
    *to++ = 1;
    *to++ = DW_LNE_end_sequence;
    program->bytes.size = (size_t)(to - program->bytes.data);
}

void line_program_write(struct line_program *program, const struct string_table *files,
                        struct bytes *debug_line)
{
    static const unsigned char operands[OPCODE_BASE - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    const size_t start = debug_line->size;
    bytes_u32(debug_line, 0); /* the length */
    bytes_u16(debug_line, 4); /* DWARF's version */
    const size_t header = debug_line->size;
    bytes_u32(debug_line, 0); /* the header's length */
    bytes_u8(debug_line, 1);  /* minimum_instruction_length */
    bytes_u8(debug_line, 1);  /* maximum_operations_per_instruction */
    bytes_u8(debug_line, 1);  /* default_is_stmt */
    bytes_u8(debug_line, (uint8_t)LINE_BASE);
    bytes_u8(debug_line, LINE_RANGE);
    bytes_u8(debug_line, OPCODE_BASE);
    bytes_copy(debug_line, operands, sizeof(operands));
    bytes_u8(debug_line, 0); /* no directories: files are as the dump names them */
    for (size_t at = 1; at < files->bytes.size;) { /* behind the empty string */
        const unsigned char *const file = files->bytes.data + at;
        const size_t length = strlen((const char *)file) + 1;
        bytes_copy(debug_line, file, length);
        bytes_zeros(debug_line, 3); /* directory, time, size */
        at += length;
    }
    bytes_u8(debug_line, 0);
    bytes_put_length(debug_line, header);
    bytes_copy(debug_line, program->bytes.data, program->bytes.size);
    bytes_put_length(debug_line, start);
    debug_line->failed = debug_line->failed || program->bytes.failed || files->bytes.failed;
    program->bytes.size = 0;
}
