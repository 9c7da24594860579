#include "platform/c_library.h"

#include "code_enter.h"

#include <stdint.h>

#if defined(__x86_64__)

#include <cpuid.h>

/* How many bytes xsave writes. */
__attribute__((visibility("hidden"))) extern uint64_t jd_code_enter_size;
uint64_t jd_code_enter_size;

bool jd_code_enter_prepare(void)
{
    unsigned int a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0 ||
        __get_cpuid_count(0xd, 0, &a, &b, &c, &d) == 0)
        return false;
    jd_code_enter_size = b;
    return true;
}

/* rax, rdi and rsi are on the stack, with the return address above them; rdi is the argument and rsi what
 * to call. The header behind the first 512 bytes of what xsave writes has to be zero. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl jd_code_enter\n"
        ".hidden jd_code_enter\n"
        ".type jd_code_enter, @function\n"
        "jd_code_enter:\n"
        ".cfi_startproc\n"
        ".cfi_def_cfa %rsp, 32\n"
        "endbr64\n"
        "push %rbp\n"
        ".cfi_def_cfa_offset 40\n"
        ".cfi_offset %rbp, -40\n"
        "mov %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "pushfq\n"
        "push %rcx\n"
        "push %rdx\n"
        "push %r8\n"
        "push %r9\n"
        "push %r10\n"
        "push %r11\n"
        "cld\n"
        "sub jd_code_enter_size(%rip), %rsp\n"
        "and $-64, %rsp\n"
        "xor %eax, %eax\n"
        "mov %rax, 512(%rsp)\n"
        "mov %rax, 520(%rsp)\n"
        "mov %rax, 528(%rsp)\n"
        "mov %rax, 536(%rsp)\n"
        "mov %rax, 544(%rsp)\n"
        "mov %rax, 552(%rsp)\n"
        "mov %rax, 560(%rsp)\n"
        "mov %rax, 568(%rsp)\n"
        "mov $-1, %eax\n"
        "mov $-1, %edx\n"
        "xsave64 (%rsp)\n"
        "call *%rsi\n"
        "mov $-1, %eax\n"
        "mov $-1, %edx\n"
        "xrstor64 (%rsp)\n"
        "lea -56(%rbp), %rsp\n"
        "pop %r11\n"
        "pop %r10\n"
        "pop %r9\n"
        "pop %r8\n"
        "pop %rdx\n"
        "pop %rcx\n"
        "popfq\n"
        "pop %rbp\n"
        ".cfi_def_cfa %rsp, 32\n"
        "pop %rsi\n"
        "pop %rdi\n"
        "pop %rax\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size jd_code_enter, . - jd_code_enter\n");

#elif defined(__aarch64__)

bool jd_code_enter_prepare(void)
{
    return true;
}

/* x0, x1, x16 and x17 are on the stack; x0 is the argument and x1 what to call. Of vectors that are longer
 * than 128 bits the rest is not kept. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl jd_code_enter\n"
        ".hidden jd_code_enter\n"
        ".type jd_code_enter, %function\n"
        "jd_code_enter:\n"
        ".cfi_startproc\n"
        ".cfi_def_cfa sp, 32\n"
        "hint 36\n" /* bti j */
        "stp x29, x30, [sp, -16]!\n"
        ".cfi_def_cfa_offset 48\n"
        ".cfi_offset x29, -48\n"
        ".cfi_offset x30, -40\n"
        "mov x29, sp\n"
        ".cfi_def_cfa_register x29\n"
        "stp x2, x3, [sp, -16]!\n"
        "stp x4, x5, [sp, -16]!\n"
        "stp x6, x7, [sp, -16]!\n"
        "stp x8, x9, [sp, -16]!\n"
        "stp x10, x11, [sp, -16]!\n"
        "stp x12, x13, [sp, -16]!\n"
        "stp x14, x15, [sp, -16]!\n"
        "mrs x2, nzcv\n"
        "mrs x3, fpsr\n"
        "stp x2, x3, [sp, -16]!\n"
        "str x18, [sp, -16]!\n"
        "stp q0, q1, [sp, -32]!\n"
        "stp q2, q3, [sp, -32]!\n"
        "stp q4, q5, [sp, -32]!\n"
        "stp q6, q7, [sp, -32]!\n"
        "stp q8, q9, [sp, -32]!\n"
        "stp q10, q11, [sp, -32]!\n"
        "stp q12, q13, [sp, -32]!\n"
        "stp q14, q15, [sp, -32]!\n"
        "stp q16, q17, [sp, -32]!\n"
        "stp q18, q19, [sp, -32]!\n"
        "stp q20, q21, [sp, -32]!\n"
        "stp q22, q23, [sp, -32]!\n"
        "stp q24, q25, [sp, -32]!\n"
        "stp q26, q27, [sp, -32]!\n"
        "stp q28, q29, [sp, -32]!\n"
        "stp q30, q31, [sp, -32]!\n"
        "blr x1\n"
        "ldp q30, q31, [sp], 32\n"
        "ldp q28, q29, [sp], 32\n"
        "ldp q26, q27, [sp], 32\n"
        "ldp q24, q25, [sp], 32\n"
        "ldp q22, q23, [sp], 32\n"
        "ldp q20, q21, [sp], 32\n"
        "ldp q18, q19, [sp], 32\n"
        "ldp q16, q17, [sp], 32\n"
        "ldp q14, q15, [sp], 32\n"
        "ldp q12, q13, [sp], 32\n"
        "ldp q10, q11, [sp], 32\n"
        "ldp q8, q9, [sp], 32\n"
        "ldp q6, q7, [sp], 32\n"
        "ldp q4, q5, [sp], 32\n"
        "ldp q2, q3, [sp], 32\n"
        "ldp q0, q1, [sp], 32\n"
        "ldr x18, [sp], 16\n"
        "ldp x2, x3, [sp], 16\n"
        "msr nzcv, x2\n"
        "msr fpsr, x3\n"
        "ldp x14, x15, [sp], 16\n"
        "ldp x12, x13, [sp], 16\n"
        "ldp x10, x11, [sp], 16\n"
        "ldp x8, x9, [sp], 16\n"
        "ldp x6, x7, [sp], 16\n"
        "ldp x4, x5, [sp], 16\n"
        "ldp x2, x3, [sp], 16\n"
        "ldp x29, x30, [sp], 16\n"
        ".cfi_def_cfa sp, 32\n"
        "ldp x16, x17, [sp], 16\n"
        "ldp x0, x1, [sp], 16\n"
        ".cfi_def_cfa_offset 0\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size jd_code_enter, . - jd_code_enter\n");

#endif
