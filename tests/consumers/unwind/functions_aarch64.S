#include "functions.inc"

.set X19, 19
.set X20, 20
.set X29, 29
.set X30, 30
.set SP_, 31
.set V8, 72

/* Whose registers must be found again: `kept_registers` in walk.c. */
FUNCTION keeper
    stp x29, x30, [sp, #-48]!
    STEP DEF_CFA, SP_, 48
    STEP OFFSET, X29, -48
    STEP OFFSET, X30, -40
    stp x19, x20, [sp, #16]
    STEP OFFSET, X19, -32
    STEP OFFSET, X20, -24
    str d8, [sp, #32]
    STEP OFFSET, V8, -16
    mov x19, #0x101
    mov x29, #0x102
    mov x20, #0x103
    fmov d8, #1.0
    add x0, x0, #16
    ldr x16, [x0]
    blr x16
RETURN_OF keeper
    ldr d8, [sp, #32]
    STEP RESTORE, V8
    ldp x19, x20, [sp, #16]
    STEP RESTORE, X19
    STEP RESTORE, X20
    ldp x29, x30, [sp], #48
    STEP FRAME_NONE
    ret
END keeper

FUNCTION standard
    stp x29, x30, [sp, #-16]!
    mov x29, sp
    add x0, x0, #16
    ldr x16, [x0]
    blr x16
RETURN_OF standard
    ldp x29, x30, [sp], #16
    ret
END standard

/* With frame pointer, saved registers and two epilogues. */
FUNCTION saving
    stp x29, x30, [sp, #-16]!
    STEP FRAME_ALLOCATED
    mov x29, sp
    STEP FRAME_SET
    stp x19, x20, [sp, #-32]!
    STEP OFFSET, X19, -48
    STEP OFFSET, X20, -40
    ldr x19, [x0, #8]
    eor x19, x19, #1
    str x19, [x0, #8]
    mov x20, #0
    add x0, x0, #16
    ldr x16, [x0]
    blr x16
RETURN_OF saving
    cbz x19, 1f
    STEP REMEMBER_STATE
    ldp x19, x20, [sp], #32
    STEP RESTORE, X19
    STEP RESTORE, X20
    ldp x29, x30, [sp], #16
    STEP FRAME_NONE
    ret
    STEP RESTORE_STATE
1:  nop
    ldp x19, x20, [x29, #-32]
    STEP RESTORE, X19
    STEP RESTORE, X20
    mov sp, x29
    ldp x29, x30, [sp], #16
    STEP FRAME_NONE
    ret
END saving

/* Without frame pointer, whose register is used for something else; with pushes in the middle
 * and two epilogues. */
FUNCTION pushing
    stp x29, x30, [sp, #-32]!
    STEP DEF_CFA, SP_, 32
    STEP OFFSET, X29, -32
    STEP OFFSET, X30, -24
    ldr x29, [x0, #8]
    eor x29, x29, #1
    str x29, [x0, #8]
    add x0, x0, #16
    stp x29, xzr, [sp, #-16]!
    STEP DEF_CFA, SP_, 48
    ldr x16, [x0]
    blr x16
RETURN_OF pushing
    ldp x1, x2, [sp], #16
    STEP DEF_CFA, SP_, 32
    cbz x1, 1f
    STEP REMEMBER_STATE
    ldp x29, x30, [sp], #32
    STEP FRAME_NONE
    ret
    STEP RESTORE_STATE
1:  str x1, [sp, #-16]!
    STEP DEF_CFA, SP_, 48
    nop
    ldr x1, [sp], #16
    STEP DEF_CFA, SP_, 32
    ldp x29, x30, [sp], #32
    STEP FRAME_NONE
    ret
END pushing

FUNCTION leaf
RETURN_OF leaf /* calls nothing */
    mov w1, #10
1:  subs w1, w1, #1
    b.ne 1b
    ret
END leaf

    .section .note.GNU-stack, "", %progbits
