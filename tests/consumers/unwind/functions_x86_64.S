#include "functions.inc"

.set RBX, 3
.set RBP, 6
.set RSP, 7
.set R12, 12

/* Whose registers must be found again: `kept_registers` in walk.c. */
FUNCTION keeper
    push %rbx
    STEP DEF_CFA, RSP, 16
    STEP OFFSET, RBX, -16
    push %rbp
    STEP DEF_CFA, RSP, 24
    STEP OFFSET, RBP, -24
    push %r12
    STEP DEF_CFA, RSP, 32
    STEP OFFSET, R12, -32
    mov $0x101, %ebx
    mov $0x102, %ebp
    mov $0x103, %r12d
    add $16, %rdi
    call *(%rdi)
RETURN_OF keeper
    pop %r12
    STEP DEF_CFA, RSP, 24
    STEP RESTORE, R12
    pop %rbp
    STEP DEF_CFA, RSP, 16
    STEP RESTORE, RBP
    pop %rbx
    STEP FRAME_NONE
    ret
END keeper

FUNCTION standard
    push %rbp
    mov %rsp, %rbp
    add $16, %rdi
    call *(%rdi)
RETURN_OF standard
    pop %rbp
    ret
END standard

/* With frame pointer, saved registers and two epilogues. */
FUNCTION saving
    push %rbp
    STEP FRAME_ALLOCATED
    mov %rsp, %rbp
    STEP FRAME_SET
    push %rbx
    STEP OFFSET, RBX, -24
    push %r12
    STEP OFFSET, R12, -32
    sub $32, %rsp
    mov 8(%rdi), %rbx
    xor $1, %rbx
    mov %rbx, 8(%rdi)
    xor %r12d, %r12d
    add $16, %rdi
    call *(%rdi)
RETURN_OF saving
    test %rbx, %rbx
    jz 1f
    add $32, %rsp
    STEP REMEMBER_STATE
    pop %r12
    STEP RESTORE, R12
    pop %rbx
    STEP RESTORE, RBX
    pop %rbp
    STEP FRAME_NONE
    ret
    STEP RESTORE_STATE
1:  nop
    lea -16(%rbp), %rsp
    pop %r12
    STEP RESTORE, R12
    pop %rbx
    STEP RESTORE, RBX
    leave
    STEP FRAME_NONE
    ret
END saving

/* Without frame pointer, whose register is used for something else; with pushes in the middle
 * and two epilogues. */
FUNCTION pushing
    sub $24, %rsp
    STEP DEF_CFA, RSP, 32
    mov %rbp, 16(%rsp)
    STEP OFFSET, RBP, -16
    mov 8(%rdi), %rbp
    xor $1, %rbp
    mov %rbp, 8(%rdi)
    add $16, %rdi
    push %rbp
    STEP DEF_CFA, RSP, 40
    push $5
    STEP DEF_CFA, RSP, 48
    call *(%rdi)
RETURN_OF pushing
    pop %rcx
    STEP DEF_CFA, RSP, 40
    pop %rax
    STEP DEF_CFA, RSP, 32
    test %rax, %rax
    jz 1f
    mov 16(%rsp), %rbp
    STEP REMEMBER_STATE
    STEP RESTORE, RBP
    add $24, %rsp
    STEP FRAME_NONE
    ret
    STEP RESTORE_STATE
1:  push %rcx
    STEP DEF_CFA, RSP, 40
    nop
    pop %rcx
    STEP DEF_CFA, RSP, 32
    mov 16(%rsp), %rbp
    STEP RESTORE, RBP
    add $24, %rsp
    STEP FRAME_NONE
    ret
END pushing

FUNCTION leaf
RETURN_OF leaf /* calls nothing */
    mov $10, %ecx
1:  dec %ecx
    jnz 1b
    ret
END leaf

    .section .note.GNU-stack, "", @progbits
