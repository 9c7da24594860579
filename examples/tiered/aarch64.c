/* Machine code for aarch64. A: x0, B: x1. */
#include "tiered.h"

#if defined(__aarch64__)

#include <string.h>

static void put_instruction(struct code *code, uint32_t instruction)
{
    put(code, &instruction, sizeof(instruction));
}

/* x9 is where the slot is. */
static void put_slot(struct code *code, uint32_t slot)
{
    put_instruction(code, 0xd10003a9 | 8 * (slot + 1) << 10); /* sub x9, x29, #8 * (slot + 1) */
}

enum { FRAME_AT = 8 };

void put_begin(struct code *code)
{
    put_instruction(code, 0xa9bf7bfd); /* stp x29, x30, [sp, #-16]! */
    put_instruction(code, 0x910003fd); /* mov x29, sp */
    put_instruction(code, 0xd10003ff); /* sub sp, sp, #frame */
}

void put_end(struct code *code, uint32_t slots)
{
    put_instruction(code, 0x910003bf); /* mov sp, x29 */
    put_instruction(code, 0xa8c17bfd); /* ldp x29, x30, [sp], #16 */
    put_instruction(code, 0xd65f03c0); /* ret */
    const uint32_t frame = (slots + 1) / 2 * 16;
    const uint32_t instruction = 0xd10003ff | frame << 10;
    memcpy(code->bytes + FRAME_AT, &instruction, sizeof(instruction));
}

void put_constant(struct code *code, int32_t value)
{
    put_instruction(code, 0xd2800000 | ((uint32_t)value & 0xffff) << 5); /* movz x0, #low */
    put_instruction(code, 0xf2a00000 | ((uint32_t)value >> 16) << 5); /* movk x0, #high, lsl 16 */
    put_instruction(code, 0x93407c00);                                   /* sxtw x0, w0 */
}

void put_load(struct code *code, uint32_t slot)
{
    put_slot(code, slot);
    put_instruction(code, 0xf9400120); /* ldr x0, [x9] */
}

void put_load_b(struct code *code, uint32_t slot)
{
    put_slot(code, slot);
    put_instruction(code, 0xf9400121); /* ldr x1, [x9] */
}

void put_store(struct code *code, uint32_t slot)
{
    put_slot(code, slot);
    put_instruction(code, 0xf9000120); /* str x0, [x9] */
}

void put_push(struct code *code)
{
    put_instruction(code, 0xf81f0fe0); /* str x0, [sp, #-16]! */
}

void put_pop(struct code *code)
{
    put_instruction(code, 0xaa0003e1); /* mov x1, x0 */
    put_instruction(code, 0xf84107e0); /* ldr x0, [sp], #16 */
}

void put_operation(struct code *code, enum kind kind)
{
    put_instruction(code, kind == ADD        ? 0x8b010000   /* add x0, x0, x1 */
                          : kind == SUBTRACT ? 0xcb010000   /* sub x0, x0, x1 */
                                             : 0x9b017c00); /* mul x0, x0, x1 */
}

void put_parameter(struct code *code, uint32_t i, uint32_t slot)
{
    put_slot(code, slot);
    put_instruction(code, 0xf9000120 | i); /* str xi, [x9] */
}

void put_argument(struct code *code, uint32_t i, uint32_t slot)
{
    put_slot(code, slot);
    put_instruction(code, 0xf9400120 | i); /* ldr xi, [x9] */
}

static void put_address(struct code *code, const void *address)
{
    const uint64_t value = (uint64_t)(uintptr_t)address;
    put_instruction(code, 0xd2800010 | (uint32_t)(value & 0xffff) << 5); /* movz x16 */
    for (uint32_t half = 1; half < 4; half++)                            /* movk x16 */
        put_instruction(code, 0xf2800010 | half << 21 |
                                  (uint32_t)(value >> (16 * half) & 0xffff) << 5);
}

void put_call(struct code *code, uint8_t *const *target)
{
    put_address(code, target);
    put_instruction(code, 0xf9400210); /* ldr x16, [x16] */
    put_instruction(code, 0xd63f0200); /* blr x16 */
}

void put_count(struct code *code, uint64_t *count)
{
    put_address(code, count);
    put_instruction(code, 0xf9400211); /* ldr x17, [x16] */
    put_instruction(code, 0x91000631); /* add x17, x17, #1 */
    put_instruction(code, 0xf9000211); /* str x17, [x16] */
}

uint32_t put_jump(struct code *code)
{
    put_instruction(code, 0x14000000); /* b */
    return code->size - 4;
}

uint32_t put_jump_unless_less(struct code *code)
{
    put_instruction(code, 0xeb01001f); /* cmp x0, x1 */
    put_instruction(code, 0x5400000a); /* b.ge */
    return code->size - 4;
}

void put_target(struct code *code, uint32_t jump, uint32_t target)
{
    uint32_t instruction;
    memcpy(&instruction, code->bytes + jump, sizeof(instruction));
    const uint32_t words = (target - jump) / 4;
    const uint32_t distance = (int32_t)(target - jump) < 0 ? words | 0xc0000000 : words;
    instruction |= instruction == 0x14000000 ? distance & 0x03ffffff : (distance & 0x7ffff) << 5;
    memcpy(code->bytes + jump, &instruction, sizeof(instruction));
}

#endif
