#include "call_frame.h"

/* What follows an instruction's first byte. */
enum call_frame_operands {
    UNKNOWN, /* not an instruction */
    NONE,
    ADVANCE_1, /* a distance, in so many bytes */
    ADVANCE_2,
    ADVANCE_4,
    ADVANCE_8,
    NUMBER,     /* a LEB128 */
    NUMBERS,    /* two */
    EXPRESSION, /* a block */
    NUMBER_AND_EXPRESSION
};

/* By the low six bits, where the high two are 0. */
static const unsigned char operands_of[0x40] = {
    [0x00] = NONE,                  /* nop */
    [0x01] = NONE,                  /* set_loc, and an address */
    [0x02] = ADVANCE_1,             /* advance_loc1 */
    [0x03] = ADVANCE_2,             /* advance_loc2 */
    [0x04] = ADVANCE_4,             /* advance_loc4 */
    [0x05] = NUMBERS,               /* offset_extended */
    [0x06] = NUMBER,                /* restore_extended */
    [0x07] = NUMBER,                /* undefined */
    [0x08] = NUMBER,                /* same_value */
    [0x09] = NUMBERS,               /* register */
    [0x0a] = NONE,                  /* remember_state */
    [0x0b] = NONE,                  /* restore_state */
    [0x0c] = NUMBERS,               /* def_cfa */
    [0x0d] = NUMBER,                /* def_cfa_register */
    [0x0e] = NUMBER,                /* def_cfa_offset */
    [0x0f] = EXPRESSION,            /* def_cfa_expression */
    [0x10] = NUMBER_AND_EXPRESSION, /* expression */
    [0x11] = NUMBERS,               /* offset_extended_sf */
    [0x12] = NUMBERS,               /* def_cfa_sf */
    [0x13] = NUMBER,                /* def_cfa_offset_sf */
    [0x14] = NUMBERS,               /* val_offset */
    [0x15] = NUMBERS,               /* val_offset_sf */
    [0x16] = NUMBER_AND_EXPRESSION, /* val_expression */
    [0x1d] = ADVANCE_8,             /* MIPS_advance_loc8 */
    [0x2c] = NONE,                  /* AARCH64_negate_ra_state_with_pc */
    [0x2d] = NONE,                  /* GNU_window_save, AARCH64_negate_ra_state */
    [0x2e] = NUMBER,                /* GNU_args_size */
    [0x2f] = NUMBERS                /* GNU_negative_offset_extended */
};

static const char cut_off[] = "a call frame instruction does not fit into its entry";

/* Of any length: who carries the instruction out has his own opinion of numbers over 64 bits. */
static void skip_number(struct cursor *cursor)
{
    while ((cursor_u8(cursor, cut_off) & 0x80) != 0)
        ;
}

static void skip_expression(struct cursor *cursor)
{
    static const char expression_cut_off[] = "a DWARF expression does not fit into its entry";
    const uint64_t size = jd_cursor_uleb128(cursor, expression_cut_off);
    cursor_take(cursor, size, expression_cut_off);
}

static void read_operands(struct cursor *cursor, struct call_frame_instruction *instruction)
{
    const enum call_frame_operands operands =
        (enum call_frame_operands)operands_of[instruction->opcode];
    instruction->advances = operands >= ADVANCE_1 && operands <= ADVANCE_8;
    switch (operands) {
    case NONE:
        return;
    case ADVANCE_1:
        instruction->distance = cursor_u8(cursor, cut_off);
        return;
    case ADVANCE_2:
        instruction->distance = cursor_u16(cursor, cut_off);
        return;
    case ADVANCE_4:
        instruction->distance = cursor_u32(cursor, cut_off);
        return;
    case ADVANCE_8:
        instruction->distance = cursor_u64(cursor, cut_off);
        return;
    case NUMBERS:
        skip_number(cursor);
        skip_number(cursor);
        return;
    case NUMBER:
        skip_number(cursor);
        return;
    case NUMBER_AND_EXPRESSION:
        skip_number(cursor);
        skip_expression(cursor);
        return;
    case EXPRESSION:
        skip_expression(cursor);
        return;
    case UNKNOWN:
        cursor_fail(cursor, "it has a call frame instruction that is not known");
        return;
    }
}

bool jd_call_frame_next(struct cursor *cursor, struct call_frame_instruction *instruction)
{
    if (cursor_left(cursor) == 0)
        return false;
    const unsigned char *const start = cursor->at;
    *instruction = (struct call_frame_instruction){.opcode = cursor_u8(cursor, cut_off)};
    switch (instruction->opcode >> 6) {
    case 0:
        read_operands(cursor, instruction);
        break;
    case 1: /* advance_loc */
        instruction->advances = true;
        instruction->distance = instruction->opcode & 0x3f;
        break;
    case 2: /* offset */
        skip_number(cursor);
        break;
    default: /* restore */
        break;
    }
    instruction->bytes = (struct span){start, (uint64_t)(cursor->at - start)};
    return cursor->error == NULL;
}
