#include "writers/cfi_check.h"

/* What follows an instruction's first byte. */
enum operands {
    UNKNOWN, /* not an instruction */
    NONE,
    ONE_BYTE,
    TWO_BYTES,
    FOUR_BYTES,
    EIGHT_BYTES,
    NUMBER,         /* a LEB128; signed ones are as long */
    NUMBERS,        /* two */
    EXPRESSION,     /* a block */
    NUMBER_AND_EXPRESSION,
    ADDRESS /* an absolute one: DW_CFA_set_loc. No compiler or JIT was seen to write it. */
};

/* By the low six bits, where the high two are 0. */
static const unsigned char operands_of[0x40] = {
    [0x00] = NONE,                  /* nop */
    [0x01] = ADDRESS,               /* set_loc */
    [0x02] = ONE_BYTE,              /* advance_loc1 */
    [0x03] = TWO_BYTES,             /* advance_loc2 */
    [0x04] = FOUR_BYTES,            /* advance_loc4 */
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
    [0x1d] = EIGHT_BYTES,           /* MIPS_advance_loc8 */
    [0x2d] = NONE,                  /* GNU_window_save, AARCH64_negate_ra_state */
    [0x2e] = NUMBER,                /* GNU_args_size */
    [0x2f] = NUMBERS                /* GNU_negative_offset_extended */
};

static void skip_expression(struct cursor *at)
{
    static const char cut_off[] = "a DWARF expression does not fit into its entry";
    cursor_take(at, jd_cursor_uleb128(at, cut_off), cut_off);
}

static void skip_operands(struct cursor *at, enum operands operands)
{
    static const char cut_off[] = "a call frame instruction does not fit into its entry";
    switch (operands) {
    case NONE:
        return;
    case ONE_BYTE:
    case TWO_BYTES:
    case FOUR_BYTES:
    case EIGHT_BYTES:
        cursor_take(at, UINT64_C(1) << (operands - ONE_BYTE), cut_off);
        return;
    case NUMBERS:
        jd_cursor_uleb128(at, cut_off);
        jd_cursor_uleb128(at, cut_off);
        return;
    case NUMBER:
        jd_cursor_uleb128(at, cut_off);
        return;
    case NUMBER_AND_EXPRESSION:
        jd_cursor_uleb128(at, cut_off);
        skip_expression(at);
        return;
    case EXPRESSION:
        skip_expression(at);
        return;
    case ADDRESS:
        cursor_fail(at, "it has DW_CFA_set_loc, an absolute address");
        return;
    case UNKNOWN:
        cursor_fail(at, "it has a call frame instruction that is not known");
        return;
    }
}

const char *cfi_check(struct cursor instructions)
{
    static const char cut_off[] = "a call frame instruction does not fit into its entry";
    struct cursor *const at = &instructions;
    uint64_t remembered = 0;
    while (cursor_left(at) > 0) {
        const uint8_t first = cursor_u8(at, cut_off);
        switch (first >> 6) {
        case 0:
            if (first == 0x0a)
                remembered++;
            if (first == 0x0b && remembered-- == 0)
                return "it restores a state that it has not remembered";
            skip_operands(at, (enum operands)operands_of[first]);
            break;
        case 2: /* offset */
            jd_cursor_uleb128(at, cut_off);
            break;
        default: /* advance_loc, restore */
            break;
        }
    }
    return at->error;
}
