/* Machine code for x86-64. A: rax, B: rcx. */
#include "tiered.h"

#if defined(__x86_64__)

#include <string.h>

#define PUT(code, ...) \
    put((code), (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void put_int32(struct code *code, int32_t value)
{
    put(code, &value, sizeof(value));
}

static void put_slot(struct code *code, uint32_t slot)
{
    put_int32(code, -8 * (int32_t)(slot + 1)); /* from rbp */
}

enum { FRAME_AT = 7 };

void put_begin(struct code *code)
{
    PUT(code, 0x55);                         /* push %rbp */
    PUT(code, 0x48, 0x89, 0xe5);             /* mov  %rsp, %rbp */
    PUT(code, 0x48, 0x81, 0xec, 0, 0, 0, 0); /* sub  $frame, %rsp */
}

void put_end(struct code *code, uint32_t slots)
{
    PUT(code, 0xc9); /* leave */
    PUT(code, 0xc3); /* ret */
    const uint32_t frame = (slots + 1) / 2 * 16;
    memcpy(code->bytes + FRAME_AT, &frame, sizeof(frame));
}

void put_constant(struct code *code, int32_t value)
{
    PUT(code, 0x48, 0xc7, 0xc0); /* mov $value, %rax */
    put_int32(code, value);
}

void put_load(struct code *code, uint32_t slot)
{
    PUT(code, 0x48, 0x8b, 0x85); /* mov slot(%rbp), %rax */
    put_slot(code, slot);
}

void put_load_b(struct code *code, uint32_t slot)
{
    PUT(code, 0x48, 0x8b, 0x8d); /* mov slot(%rbp), %rcx */
    put_slot(code, slot);
}

void put_store(struct code *code, uint32_t slot)
{
    PUT(code, 0x48, 0x89, 0x85); /* mov %rax, slot(%rbp) */
    put_slot(code, slot);
}

void put_push(struct code *code)
{
    PUT(code, 0x50); /* push %rax */
}

void put_pop(struct code *code)
{
    PUT(code, 0x48, 0x89, 0xc1); /* mov %rax, %rcx */
    PUT(code, 0x58);             /* pop %rax */
}

void put_operation(struct code *code, enum kind kind)
{
    if (kind == ADD)
        PUT(code, 0x48, 0x01, 0xc8); /* add %rcx, %rax */
    else if (kind == SUBTRACT)
        PUT(code, 0x48, 0x29, 0xc8); /* sub %rcx, %rax */
    else
        PUT(code, 0x48, 0x0f, 0xaf, 0xc1); /* imul %rcx, %rax */
}

/* The ModRM bytes of rdi, rsi, rdx with a distance from rbp. */
static const uint8_t arguments[PARAMETERS_MAX] = {0xbd, 0xb5, 0x95};

void put_parameter(struct code *code, uint32_t i, uint32_t slot)
{
    PUT(code, 0x48, 0x89, arguments[i]); /* mov argument, slot(%rbp) */
    put_slot(code, slot);
}

void put_argument(struct code *code, uint32_t i, uint32_t slot)
{
    PUT(code, 0x48, 0x8b, arguments[i]); /* mov slot(%rbp), argument */
    put_slot(code, slot);
}

static void put_address(struct code *code, const void *address)
{
    PUT(code, 0x49, 0xbb); /* mov $address, %r11 */
    put(code, &address, sizeof(address));
}

void put_call(struct code *code, uint8_t *const *target)
{
    put_address(code, target);
    PUT(code, 0x41, 0xff, 0x13); /* call *(%r11) */
}

void put_count(struct code *code, uint64_t *count)
{
    put_address(code, count);
    PUT(code, 0x49, 0xff, 0x03); /* incq (%r11) */
}

uint32_t put_jump(struct code *code)
{
    PUT(code, 0xe9, 0, 0, 0, 0); /* jmp */
    return code->size;
}

uint32_t put_jump_unless_less(struct code *code)
{
    PUT(code, 0x48, 0x39, 0xc8);       /* cmp %rcx, %rax */
    PUT(code, 0x0f, 0x8d, 0, 0, 0, 0); /* jge */
    return code->size;
}

void put_target(struct code *code, uint32_t jump, uint32_t target)
{
    const uint32_t distance = target - jump;
    memcpy(code->bytes + jump - sizeof(distance), &distance, sizeof(distance));
}

#endif
