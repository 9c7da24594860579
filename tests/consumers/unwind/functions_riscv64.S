#include "functions.inc"

.option norelax
.option norvc /* so that each instruction has room for an ebreak */

.set RA, 1
.set SP_, 2
.set S0, 8
.set S1, 9
.set S2, 18
.set FS0, 40

/* Whose registers must be found again: `kept_registers` in walk.c. */
FUNCTION keeper
    addi sp, sp, -48
    STEP DEF_CFA, SP_, 48
    sd ra, 40(sp)
    STEP OFFSET, RA, -8
    sd s0, 32(sp)
    STEP OFFSET, S0, -16
    sd s1, 24(sp)
    STEP OFFSET, S1, -24
    sd s2, 16(sp)
    STEP OFFSET, S2, -32
    fsd fs0, 8(sp)
    STEP OFFSET, FS0, -40
    li s1, 0x101
    li s0, 0x102
    li s2, 0x103
    fmv.d.x fs0, zero
    addi a0, a0, 16
    ld t0, 0(a0)
    jalr t0
RETURN_OF keeper
    fld fs0, 8(sp)
    STEP RESTORE, FS0
    ld s2, 16(sp)
    STEP RESTORE, S2
    ld s1, 24(sp)
    STEP RESTORE, S1
    ld s0, 32(sp)
    STEP RESTORE, S0
    ld ra, 40(sp)
    STEP RESTORE, RA
    addi sp, sp, 48
    STEP FRAME_NONE
    ret
END keeper

FUNCTION standard
    addi sp, sp, -16
    sd ra, 8(sp)
    sd s0, 0(sp)
    addi s0, sp, 16
    addi a0, a0, 16
    ld t0, 0(a0)
    jalr t0
RETURN_OF standard
    ld ra, 8(sp)
    ld s0, 0(sp)
    addi sp, sp, 16
    ret
END standard

/* With frame pointer, saved registers and two epilogues. */
FUNCTION saving
    addi sp, sp, -16
    STEP FRAME_ALLOCATED
    sd ra, 8(sp)
    sd s0, 0(sp)
    addi s0, sp, 16
    STEP FRAME_SET
    addi sp, sp, -32
    sd s1, 24(sp)
    STEP OFFSET, S1, -24
    sd s2, 16(sp)
    STEP OFFSET, S2, -32
    ld s1, 8(a0)
    xori s1, s1, 1
    sd s1, 8(a0)
    li s2, 0
    addi a0, a0, 16
    ld t0, 0(a0)
    jalr t0
RETURN_OF saving
    beqz s1, 1f
    STEP REMEMBER_STATE
    ld s1, 24(sp)
    STEP RESTORE, S1
    ld s2, 16(sp)
    STEP RESTORE, S2
    addi sp, sp, 32
    ld ra, 8(sp)
    ld s0, 0(sp)
    STEP FRAME_ALLOCATED
    addi sp, sp, 16
    STEP FRAME_NONE
    ret
    STEP RESTORE_STATE
1:  nop
    ld s2, -32(s0)
    STEP RESTORE, S2
    ld s1, -24(s0)
    STEP RESTORE, S1
    addi sp, s0, -16
    ld ra, 8(sp)
    ld s0, 0(sp)
    STEP FRAME_ALLOCATED
    addi sp, sp, 16
    STEP FRAME_NONE
    ret
END saving

/* Without frame pointer, whose register is used for something else; with pushes in the middle
 * and two epilogues. */
FUNCTION pushing
    addi sp, sp, -32
    STEP DEF_CFA, SP_, 32
    sd ra, 24(sp)
    STEP OFFSET, RA, -8
    sd s0, 16(sp)
    STEP OFFSET, S0, -16
    ld s0, 8(a0)
    xori s0, s0, 1
    sd s0, 8(a0)
    addi a0, a0, 16
    addi sp, sp, -16
    STEP DEF_CFA, SP_, 48
    sd s0, 0(sp)
    ld t0, 0(a0)
    jalr t0
RETURN_OF pushing
    ld t1, 0(sp)
    addi sp, sp, 16
    STEP DEF_CFA, SP_, 32
    beqz t1, 1f
    STEP REMEMBER_STATE
    ld ra, 24(sp)
    STEP RESTORE, RA
    ld s0, 16(sp)
    STEP RESTORE, S0
    addi sp, sp, 32
    STEP FRAME_NONE
    ret
    STEP RESTORE_STATE
1:  addi sp, sp, -16
    STEP DEF_CFA, SP_, 48
    nop
    addi sp, sp, 16
    STEP DEF_CFA, SP_, 32
    ld s0, 16(sp)
    STEP RESTORE, S0
    ld ra, 24(sp)
    STEP RESTORE, RA
    addi sp, sp, 32
    STEP FRAME_NONE
    ret
END pushing

FUNCTION leaf
RETURN_OF leaf /* calls nothing */
    li t1, 10
1:  addi t1, t1, -1
    bnez t1, 1b
    ret
END leaf

    .section .note.GNU-stack, "", @progbits
