/* x0: iterations, kept across calls of generated functions; x2: rounds left; x1: the product. */
#include "codegen.h"

#define DW_CFA_offset 0x80
#define DW_CFA_restore 0xc0
#define DW_CFA_def_cfa 0x0c
#define DW_CFA_def_cfa_offset 0x0e
#define DWARF_X30 30
#define DWARF_SP 31

static const uint8_t initial_cfi[] = {DW_CFA_def_cfa, DWARF_SP, 0}; /* CFA = sp */

const struct unwind_convention unwind_convention = {
    .code_alignment = 4,
    .data_alignment = 0x78, /* -8 */
    .return_register = DWARF_X30,
    .initial_cfi = initial_cfi,
    .initial_cfi_size = sizeof(initial_cfi),
};

static void assemble_instruction(struct assembler *a, uint32_t instruction)
{
    assemble_bytes(a, &instruction, sizeof(instruction));
}

static void assemble_cfa_offset(struct assembler *a, uint32_t offset)
{
    uint8_t cfi[] = {DW_CFA_def_cfa_offset, (uint8_t)(0x80 | (offset & 0x7f)),
                     (uint8_t)(offset >> 7)};
    assemble_cfi(a, cfi, sizeof(cfi));
}

void assemble_enter(struct assembler *a, uint32_t frame_size)
{
    a->frame_size = frame_size;
    assemble_instruction(a, 0xd10003ff | frame_size << 10); /* sub sp, sp, #frame_size */
    assemble_cfa_offset(a, frame_size);
    assemble_instruction(a, 0xf90003fe); /* str x30, [sp] */
    uint8_t cfi[] = {DW_CFA_offset | DWARF_X30, (uint8_t)(frame_size / 8)};
    assemble_cfi(a, cfi, sizeof(cfi));
}

void assemble_leave(struct assembler *a)
{
    assemble_instruction(a, 0xf94003fe); /* ldr x30, [sp] */
    assemble_cfi(a, (uint8_t[]){DW_CFA_restore | DWARF_X30}, 1);
    assemble_instruction(a, 0x910003ff | a->frame_size << 10); /* add sp, sp, #frame_size */
    assemble_cfa_offset(a, 0);
    assemble_instruction(a, 0xd65f03c0); /* ret */
}

void assemble_loop_start(struct assembler *a, uint32_t weight)
{
    assemble_instruction(a, 0xaa0003e1);               /* mov x1, x0 */
    assemble_instruction(a, 0xd2800002 | weight << 5); /* mov x2, #weight */
    assemble_instruction(a, 0x9b027c02);               /* mul x2, x0, x2 */
    a->loop_start = a->size;
}

void assemble_multiply(struct assembler *a)
{
    assemble_instruction(a, 0x9b017c21); /* mul x1, x1, x1 */
}

void assemble_loop_end(struct assembler *a)
{
    assemble_instruction(a, 0xf1000442); /* subs x2, x2, #1 */
    uint32_t back = (a->size - a->loop_start) / 4;
    assemble_instruction(a, 0x54000001 | ((0 - back) & 0x7ffff) << 5); /* b.ne loop_start */
}

void assemble_call(struct assembler *a, const void *target)
{
    static const uint32_t move_16_bits[] = {
        0xd2800003, /* movz x3, #imm16 */
        0xf2a00003, /* movk x3, #imm16, lsl #16, and so on */
        0xf2c00003,
        0xf2e00003,
    };
    for (int i = 0; i < 4; i++) {
        uint32_t part = (uintptr_t)target >> 16 * i & 0xffff;
        assemble_instruction(a, move_16_bits[i] | part << 5);
    }
    assemble_instruction(a, 0xd63f0060); /* blr x3 */
}

uint64_t processor_counter(void)
{
    uint64_t counter;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(counter));
    return counter;
}
