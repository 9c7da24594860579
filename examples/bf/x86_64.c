/* Machine code for x86-64. rbx: the cell, r12: the struct program. */
#include "bf.h"

#if defined(__x86_64__)

#include <string.h>

#define PUT(code, ...) \
    put((code), (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* Offsets in struct program that an instruction takes as one byte. */
#define FIELD(name) ((uint8_t)offsetof(struct program, name))
_Static_assert(offsetof(struct program, moving) < 128, "fields within reach");

static void put_int32(struct code *code, int64_t value)
{
    int32_t bytes = (int32_t)value;
    put(code, &bytes, sizeof(bytes));
}

void put_function_begin(struct code *code)
{
    PUT(code, 0x55); /* push %rbp */
    describe_frame(code, JITDUMP_UNWIND_FRAME_ALLOCATED, 0, 0);
    PUT(code, 0x48, 0x89, 0xe5); /* mov  %rsp, %rbp */
    describe_frame(code, JITDUMP_UNWIND_FRAME_SET, 0, 0);
    PUT(code, 0x53); /* push %rbx */
    describe_frame(code, JITDUMP_UNWIND_OFFSET, JITDUMP_X86_64_RBX, -24);
    PUT(code, 0x41, 0x54); /* push %r12 */
    describe_frame(code, JITDUMP_UNWIND_OFFSET, JITDUMP_X86_64_R12, -32);
    PUT(code, 0x48, 0x89, 0xfb); /* mov  %rdi, %rbx */
    PUT(code, 0x49, 0x89, 0xf4); /* mov  %rsi, %r12 */
}

void put_function_end(struct code *code)
{
    PUT(code, 0x48, 0x89, 0xd8); /* mov  %rbx, %rax */
    PUT(code, 0x41, 0x5c);       /* pop  %r12 */
    describe_frame(code, JITDUMP_UNWIND_RESTORE, JITDUMP_X86_64_R12, 0);
    PUT(code, 0x5b); /* pop  %rbx */
    describe_frame(code, JITDUMP_UNWIND_RESTORE, JITDUMP_X86_64_RBX, 0);
    PUT(code, 0x5d); /* pop  %rbp */
    describe_frame(code, JITDUMP_UNWIND_FRAME_NONE, 0, 0);
    PUT(code, 0xc3); /* ret */
}

void put_add(struct code *code, int32_t amount)
{
    PUT(code, 0x80, 0x03, (uint8_t)amount); /* addb $amount, (%rbx) */
}

void put_move(struct code *code, int32_t amount)
{
    PUT(code, 0x48, 0x81, 0xc3); /* add  $amount, %rbx */
    put_int32(code, amount);
}

void put_clear(struct code *code)
{
    PUT(code, 0xc6, 0x03, 0x00); /* movb $0, (%rbx) */
}

void put_output(struct code *code)
{
    PUT(code, 0x0f, 0xb6, 0x3b);                     /* movzbl (%rbx), %edi */
    PUT(code, 0x41, 0xff, 0x54, 0x24, FIELD(output)); /* call *output(%r12) */
}

void put_input(struct code *code)
{
    PUT(code, 0x41, 0xff, 0x54, 0x24, FIELD(input)); /* call *input(%r12) */
    PUT(code, 0x88, 0x03);                           /* mov  %al, (%rbx) */
}

void put_call(struct code *code, uint32_t function, bool moving)
{
    if (moving) {
        PUT(code, 0x4c, 0x89, 0xe7); /* mov  %r12, %rdi */
        PUT(code, 0xbe);             /* mov  $function, %esi */
        put_int32(code, function);
        PUT(code, 0x41, 0xff, 0x54, 0x24, FIELD(enter)); /* call *enter(%r12) */
    } else {
        PUT(code, 0x49, 0x8b, 0x44, 0x24, FIELD(functions)); /* mov  functions(%r12), %rax */
        PUT(code, 0x48, 0x8b, 0x80);                         /* mov  code(%rax), %rax */
        put_int32(code, (int64_t)(function * sizeof(struct function) +
                                  offsetof(struct function, code)));
    }
    PUT(code, 0x48, 0x89, 0xdf); /* mov  %rbx, %rdi */
    PUT(code, 0x4c, 0x89, 0xe6); /* mov  %r12, %rsi */
    PUT(code, 0xff, 0xd0);       /* call *%rax */
    PUT(code, 0x48, 0x89, 0xc3); /* mov  %rax, %rbx */
}

size_t put_loop_begin(struct code *code)
{
    PUT(code, 0x80, 0x3b, 0x00); /* cmpb $0, (%rbx) */
    PUT(code, 0x0f, 0x84);       /* je   behind the loop's end */
    put_int32(code, 0);
    return code->size;
}

void put_loop_end(struct code *code, size_t begin)
{
    PUT(code, 0x80, 0x3b, 0x00); /* cmpb $0, (%rbx) */
    PUT(code, 0x0f, 0x85);       /* jne  behind the loop's beginning */
    int32_t distance = (int32_t)(code->size + 4 - begin);
    put_int32(code, -distance);
    memcpy(code->bytes + begin - 4, &distance, 4);
}

#endif
