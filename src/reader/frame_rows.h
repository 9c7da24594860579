/*
 * Call frame instructions, carried out: at which code the CFA and the caller's registers are where.
 */
#ifndef JITDUMP_READER_FRAME_ROWS_H
#define JITDUMP_READER_FRAME_ROWS_H

#include "format/eh_frame.h"

/* Instructions for others are skipped. No machine's integer registers are above. */
#define FRAME_REGISTER_COUNT 128

enum frame_rule_kind {
    FRAME_UNSPECIFIED,   /* nothing is said: what the ABI says holds */
    FRAME_UNDEFINED,     /* the caller's value is lost; of the return address: there is no caller */
    FRAME_SAME_VALUE,    /* still in the register */
    FRAME_OFFSET,        /* saved at CFA + offset; of the CFA itself: reg + offset */
    FRAME_VAL_OFFSET,    /* is CFA + offset */
    FRAME_REGISTER,      /* in another register, reg */
    FRAME_EXPRESSION,    /* saved where the DWARF expression says; of the CFA: is what it says */
    FRAME_VAL_EXPRESSION /* is what the expression says */
};

struct frame_rule {
    enum frame_rule_kind kind;
    uint32_t reg;
    int64_t offset;
    struct span expression;
};

/* From address `begin` to before `end`, not empty. */
struct frame_row {
    uint64_t begin;
    uint64_t end;
    struct frame_rule cfa;
    struct frame_rule registers[FRAME_REGISTER_COUNT]; /* by DWARF's numbers */
    /* aarch64: the return address is signed there (DW_CFA_AARCH64_negate_ra_state). */
    bool return_address_signed;
};

/* Calls `row` for each row of an FDE that `reader` has read, by ascending addresses, which ends with the
 * FDE's code. Returns false if the instructions can't be carried out, with why in `reader->cursor.error`:
 * then the rows so far are right. */
bool jd_frame_rows(struct eh_frame *reader, const struct frame_fde *fde,
                   void (*row)(void *context, const struct frame_row *row), void *context);

#endif
