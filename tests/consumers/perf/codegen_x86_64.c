/* rdi: iterations, kept across calls of generated functions; rcx: rounds left; rax: the
 * product. */
#include "codegen.h"

#define DW_CFA_offset 0x80
#define DW_CFA_def_cfa 0x0c
#define DW_CFA_def_cfa_offset 0x0e
#define DWARF_RSP 7
#define DWARF_RETURN_ADDRESS 16

static const uint8_t initial_cfi[] = {
    DW_CFA_def_cfa, DWARF_RSP, 8,              /* CFA = rsp + 8 */
    DW_CFA_offset | DWARF_RETURN_ADDRESS, 1,   /* the return address at CFA - 8 */
};

const struct unwind_convention unwind_convention = {
    .code_alignment = 1,
    .data_alignment = 0x78, /* -8 */
    .return_register = DWARF_RETURN_ADDRESS,
    .initial_cfi = initial_cfi,
    .initial_cfi_size = sizeof(initial_cfi),
};

static void assemble_imm32(struct assembler *a, const char opcode[3], uint32_t value)
{
    assemble_bytes(a, opcode, 3);
    assemble_bytes(a, &value, sizeof(value));
}

void assemble_enter(struct assembler *a, uint32_t frame_size)
{
    a->frame_size = frame_size + 8; /* the call has pushed 8 bytes; keep rsp aligned to 16 */
    assemble_imm32(a, "\x48\x81\xec", a->frame_size); /* sub rsp, imm32 */
    uint32_t cfa_offset = a->frame_size + 8;
    uint8_t cfi[] = {DW_CFA_def_cfa_offset, (uint8_t)(0x80 | (cfa_offset & 0x7f)),
                     (uint8_t)(cfa_offset >> 7)};
    assemble_cfi(a, cfi, sizeof(cfi));
}

void assemble_leave(struct assembler *a)
{
    assemble_imm32(a, "\x48\x81\xc4", a->frame_size); /* add rsp, imm32 */
    assemble_cfi(a, (uint8_t[]){DW_CFA_def_cfa_offset, 8}, 2);
    assemble_bytes(a, "\xc3", 1); /* ret */
}

void assemble_loop_start(struct assembler *a, uint32_t weight)
{
    assemble_bytes(a, "\x48\x89\xf8", 3);      /* mov rax, rdi */
    assemble_imm32(a, "\x48\x69\xcf", weight); /* imul rcx, rdi, imm32 */
    a->loop_start = a->size;
}

void assemble_multiply(struct assembler *a)
{
    assemble_bytes(a, "\x48\x0f\xaf\xc0", 4); /* imul rax, rax */
}

void assemble_loop_end(struct assembler *a)
{
    assemble_bytes(a, "\x48\xff\xc9", 3); /* dec rcx */
    uint8_t jump[2] = {0x75, (uint8_t)(a->loop_start - (a->size + 2))}; /* jnz loop_start */
    assemble_bytes(a, jump, sizeof(jump));
}

void assemble_call(struct assembler *a, const void *target)
{
    assemble_bytes(a, "\x48\xb8", 2); /* mov rax, imm64 */
    assemble_bytes(a, &target, sizeof(target));
    assemble_bytes(a, "\xff\xd0", 2); /* call rax */
}

uint64_t processor_counter(void)
{
    return __builtin_ia32_rdtsc();
}
