#include "codegen.h"

#include <stdlib.h>
#include <string.h>

#define DW_CFA_advance_loc4 0x04

static void append(uint8_t *to, uint32_t *used, uint32_t capacity, const void *bytes, uint32_t size)
{
    if (size > capacity - *used)
        abort();
    memcpy(to + *used, bytes, size);
    *used += size;
}

void assemble_bytes(struct assembler *a, const void *bytes, uint32_t size)
{
    append(a->code, &a->size, CODE_MAX, bytes, size);
}

void assemble_cfi(struct assembler *a, const void *bytes, uint32_t size)
{
    uint32_t advance = (a->size - a->cfi_offset) / unwind_convention.code_alignment;
    uint8_t instruction[5] = {DW_CFA_advance_loc4};
    memcpy(instruction + 1, &advance, sizeof(advance));
    append(a->cfi, &a->cfi_size, CFI_MAX, instruction, sizeof(instruction));
    append(a->cfi, &a->cfi_size, CFI_MAX, bytes, size);
    a->cfi_offset = a->size;
}

void assemble_line(struct assembler *a, uint32_t line)
{
    if (a->line_count == LINES_MAX)
        abort();
    a->lines[a->line_count++] = (struct line_mark){.offset = a->size, .line = line};
}

void assemble_loop(struct assembler *a, uint32_t weight)
{
    if (a->line_count > 0)
        a->lines[a->line_count - 1].weight += weight;
    assemble_loop_start(a, weight);
}

void assemble_spin(struct assembler *a, uint32_t weight)
{
    assemble_loop(a, weight);
    for (int i = 0; i < 4; i++)
        assemble_multiply(a);
    assemble_loop_end(a);
}
