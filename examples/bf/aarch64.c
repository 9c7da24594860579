/* Machine code for aarch64. x19: the cell, x20: the struct program. */
#include "bf.h"

#if defined(__aarch64__)

#include <string.h>

static void put32(struct code *code, uint32_t instruction)
{
    put(code, &instruction, sizeof(instruction));
}

/* ldr x9, [x20, #field] */
static void put_load_field(struct code *code, size_t offset)
{
    put32(code, 0xf9400289 | (uint32_t)(offset / 8) << 10);
}

/* mov wN, #value */
static void put_constant(struct code *code, uint32_t n, uint32_t value)
{
    put32(code, 0x52800000 | (value & 0xffff) << 5 | n); /* movz */
    put32(code, 0x72a00000 | (value >> 16) << 5 | n);    /* movk */
}

/* b by so many bytes, which may be negative */
static uint32_t branch(int64_t distance)
{
    return 0x14000000 | ((uint32_t)(distance / 4) & 0x3ffffff);
}

void put_function_begin(struct code *code)
{
    put32(code, 0xa9be7bfd); /* stp  x29, x30, [sp, #-32]! */
    describe_frame(code, JITDUMP_UNWIND_DEF_CFA, JITDUMP_AARCH64_SP, 32);
    describe_frame(code, JITDUMP_UNWIND_OFFSET, JITDUMP_AARCH64_X29, -32);
    describe_frame(code, JITDUMP_UNWIND_OFFSET, JITDUMP_AARCH64_X30, -24);
    put32(code, 0x910003fd); /* mov  x29, sp */
    describe_frame(code, JITDUMP_UNWIND_DEF_CFA, JITDUMP_AARCH64_X29, 32);
    put32(code, 0xa90153f3); /* stp  x19, x20, [sp, #16] */
    describe_frame(code, JITDUMP_UNWIND_OFFSET, JITDUMP_AARCH64_X19, -16);
    describe_frame(code, JITDUMP_UNWIND_OFFSET, JITDUMP_AARCH64_X20, -8);
    put32(code, 0xaa0003f3); /* mov  x19, x0 */
    put32(code, 0xaa0103f4); /* mov  x20, x1 */
}

void put_function_end(struct code *code)
{
    put32(code, 0xaa1303e0); /* mov  x0, x19 */
    put32(code, 0xa94153f3); /* ldp  x19, x20, [sp, #16] */
    put32(code, 0xa8c27bfd); /* ldp  x29, x30, [sp], #32 */
    describe_frame(code, JITDUMP_UNWIND_FRAME_NONE, 0, 0);
    put32(code, 0xd65f03c0); /* ret */
}

void put_add(struct code *code, int32_t amount)
{
    put32(code, 0x39400269);                                 /* ldrb w9, [x19] */
    put32(code, 0x11000129 | ((uint32_t)amount & 0xff) << 10); /* add  w9, w9, #amount */
    put32(code, 0x39000269);                                 /* strb w9, [x19] */
}

void put_move(struct code *code, int32_t amount)
{
    if (amount >= 0)
        put32(code, 0x91000273 | (uint32_t)amount << 10); /* add  x19, x19, #amount */
    else
        put32(code, 0xd1000273 | (uint32_t)-amount << 10); /* sub  x19, x19, #-amount */
}

void put_clear(struct code *code)
{
    put32(code, 0x3900027f); /* strb wzr, [x19] */
}

void put_output(struct code *code)
{
    put32(code, 0x39400260); /* ldrb w0, [x19] */
    put_load_field(code, offsetof(struct program, output));
    put32(code, 0xd63f0120); /* blr  x9 */
}

void put_input(struct code *code)
{
    put_load_field(code, offsetof(struct program, input));
    put32(code, 0xd63f0120); /* blr  x9 */
    put32(code, 0x39000260); /* strb w0, [x19] */
}

void put_call(struct code *code, uint32_t function, bool moving)
{
    if (moving) {
        put32(code, 0xaa1403e0); /* mov  x0, x20 */
        put_constant(code, 1, function);
        put_load_field(code, offsetof(struct program, enter));
        put32(code, 0xd63f0120); /* blr  x9 */
        put32(code, 0xaa0003e9); /* mov  x9, x0 */
    } else {
        put_load_field(code, offsetof(struct program, functions));
        put_constant(code, 10, (uint32_t)(function * sizeof(struct function) +
                                          offsetof(struct function, code)));
        put32(code, 0xf86a6929); /* ldr  x9, [x9, x10] */
    }
    put32(code, 0xaa1303e0); /* mov  x0, x19 */
    put32(code, 0xaa1403e1); /* mov  x1, x20 */
    put32(code, 0xd63f0120); /* blr  x9 */
    put32(code, 0xaa0003f3); /* mov  x19, x0 */
}

/* The conditional branches reach 1 MiB only, and so go around one that reaches 128 MiB. */
size_t put_loop_begin(struct code *code)
{
    put32(code, 0x39400269); /* ldrb w9, [x19] */
    put32(code, 0x35000049); /* cbnz w9, .+8 */
    put32(code, 0);          /* b    behind the loop's end */
    return code->size;
}

void put_loop_end(struct code *code, size_t begin)
{
    put32(code, 0x39400269);                                  /* ldrb w9, [x19] */
    put32(code, 0x34000049);                                  /* cbz  w9, .+8 */
    put32(code, branch((int64_t)begin - (int64_t)code->size)); /* b    behind its beginning */
    uint32_t forward = branch((int64_t)(code->size - (begin - 4)));
    memcpy(code->bytes + begin - 4, &forward, 4);
}

#endif
