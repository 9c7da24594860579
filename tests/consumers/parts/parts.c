/*
 * A function in two parts, as compilers lay it out that move code which is rarely run away: the first
 * jumps to the second within its frame, and is jumped back to. It has no frame pointer, and both have one
 * line table. Prints where the parts are, and which line each offset is of. x86-64.
 */
#define _GNU_SOURCE
#include <jitdump.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { DISTANCE = 1 << 16, MEMORY = 2 * DISTANCE, RDI_ROUNDS = 3000, RSI_ROUNDS = 1000 };

static const uint8_t hot_code[] = {
    0x48, 0x83, 0xec, 0x18,       /*  0 sub $24, %rsp           line 10 */
    0x48, 0x89, 0xf8,             /*  4 mov %rdi, %rax               11 */
    0x48, 0x0f, 0xaf, 0xc0,       /*  7 imul %rax, %rax              12 */
    0x48, 0xff, 0xcf,             /* 11 dec %rdi                     12 */
    0x75, 0xf7,                   /* 14 jnz 7                        12 */
    0xe9, 0,    0,    0,    0,    /* 16 jmp to the other part        13 */
    0x48, 0x83, 0xc4, 0x18,       /* 21 add $24, %rsp                14 */
    0xc3,                         /* 25 ret                          14 */
};
static const uint8_t cold_code[] = {
    0x48, 0x0f, 0xaf, 0xc0,       /*  0 imul %rax, %rax         line 21 */
    0x48, 0xff, 0xce,             /*  4 dec %rsi                     21 */
    0x75, 0xf7,                   /*  7 jnz 0                        21 */
    0xe9, 0,    0,    0,    0,    /*  9 jmp back                     22 */
};
enum { HOT_JUMP = 16, HOT_BACK = 21, COLD_JUMP = 9, JUMP_SIZE = 5 };

static void set_jump(uint8_t *jump, const uint8_t *target)
{
    const int32_t distance = (int32_t)(target - (jump + JUMP_SIZE));
    memcpy(jump + 1, &distance, sizeof(distance));
}

__attribute__((noinline)) static uint64_t call_split(uint64_t (*split)(uint64_t, uint64_t))
{
    uint64_t sum = 0;
    for (struct timespec now = {0}; now.tv_sec < 1; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now))
        sum += split(RDI_ROUNDS, RSI_ROUNDS);
    return sum;
}

int main(void)
{
    struct jitdump *dump;
    if (jitdump_open(&dump, NULL) != 0)
        return 1;
    uint8_t *const hot = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE | PROT_EXEC,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (hot == MAP_FAILED)
        return 1;
    uint8_t *const cold = hot + DISTANCE;
    memcpy(hot, hot_code, sizeof(hot_code));
    memcpy(cold, cold_code, sizeof(cold_code));
    set_jump(hot + HOT_JUMP, cold);
    set_jump(cold + COLD_JUMP, hot + HOT_BACK);

    const uint64_t at = (uintptr_t)hot, cold_at = (uintptr_t)cold;
    const struct jitdump_line lines[] = {
        {at, 10, 0, "split.src"},      {at + 4, 11, 0, "split.src"},  {at + 7, 12, 0, "split.src"},
        {at + 16, 13, 0, "split.src"}, {at + 21, 14, 0, "split.src"}, {cold_at, 21, 0, "split.src"},
        {cold_at + 9, 22, 0, "split.src"}};
    const struct jitdump_unwind_step hot_steps[] = {
        {4, JITDUMP_UNWIND_DEF_CFA, JITDUMP_X86_64_RSP, 32},
        {25, JITDUMP_UNWIND_DEF_CFA, JITDUMP_X86_64_RSP, 8}};
    const struct jitdump_unwind_step cold_steps[] = {
        {0, JITDUMP_UNWIND_DEF_CFA, JITDUMP_X86_64_RSP, 32}};
    const struct jitdump_unwind hot_frame = {
        .struct_size = sizeof(hot_frame), .steps = hot_steps, .step_count = 2};
    const struct jitdump_unwind cold_frame = {
        .struct_size = sizeof(cold_frame), .steps = cold_steps, .step_count = 1};
    struct jitdump_code parts[2] = {{.struct_size = sizeof(parts[0]),
                                     .name = "split",
                                     .code_addr = at,
                                     .code_size = sizeof(hot_code),
                                     .lines = lines,
                                     .line_count = sizeof(lines) / sizeof(lines[0]),
                                     .unwind = &hot_frame}};
    parts[1] = parts[0];
    parts[1].code_addr = cold_at;
    parts[1].code_size = sizeof(cold_code);
    parts[1].unwind = &cold_frame;
    const int error = jitdump_load_many(dump, parts, 2, NULL);
    if (error != 0) {
        fprintf(stderr, "parts: %s\n", jitdump_strerror(error));
        return 1;
    }
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        printf("%" PRIx64 " %" PRIu32 "\n", lines[i].code_addr, lines[i].line);
    printf("%" PRIx64 " 0\n%" PRIx64 " 0\n", at + sizeof(hot_code), cold_at + sizeof(cold_code));
    printf("# %" PRIu64 "\n", call_split((uint64_t(*)(uint64_t, uint64_t))at));
    return jitdump_close(dump) != 0;
}
