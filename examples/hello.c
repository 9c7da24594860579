/*
 * The smallest honest JIT: one function, loaded, run for a second of processor time,
 * and described to profilers. Its source is this file: each instruction comes from the
 * line below in which its bytes stand.
 *
 *     perf record -k mono ./hello
 *     perf inject --jit -i perf.data -o perf.jit.data
 *     perf annotate --stdio -i perf.jit.data hello_jit
 */
#define _GNU_SOURCE
#include <jitdump.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

struct instruction {
    uint32_t line;
    uint32_t size;
    uint8_t bytes[4];
};

#define BYTES(...) { __LINE__, sizeof((uint8_t[]){ __VA_ARGS__ }), { __VA_ARGS__ } }

/* Adds up the numbers from its argument down to 1. */
static const struct instruction instructions[] = {
#if defined(__x86_64__)
    BYTES(0x31, 0xc0),       /* xor %eax, %eax */
    BYTES(0x48, 0x01, 0xf8), /* add %rdi, %rax    (the loop) */
    BYTES(0x48, 0xff, 0xcf), /* dec %rdi */
    BYTES(0x75, 0xf8),       /* jnz the loop */
    BYTES(0xc3),             /* ret */
#elif defined(__aarch64__)
    BYTES(0xe1, 0x03, 0x1f, 0xaa), /* mov  x1, xzr */
    BYTES(0x21, 0x00, 0x00, 0x8b), /* add  x1, x1, x0    (the loop) */
    BYTES(0x00, 0x04, 0x00, 0xf1), /* subs x0, x0, #1 */
    BYTES(0xc1, 0xff, 0xff, 0x54), /* b.ne the loop */
    BYTES(0xe0, 0x03, 0x01, 0xaa), /* mov  x0, x1 */
    BYTES(0xc0, 0x03, 0x5f, 0xd6), /* ret */
#endif
};
enum { INSTRUCTION_COUNT = sizeof(instructions) / sizeof(*instructions) };

static void check(int error)
{
    if (error != 0) {
        fprintf(stderr, "hello: %s\n", jitdump_strerror(error));
        exit(1);
    }
}

int main(void)
{
    char message[256];
    struct jitdump_options options = {
        .struct_size = sizeof(options),
        .error_message = message,
        .error_message_size = sizeof(message),
    };
    struct jitdump *dump;
    if (jitdump_open(&dump, &options) != 0) {
        fprintf(stderr, "hello: %s\n", message);
        return 1;
    }

    uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return perror("hello: mmap"), 1;
    struct jitdump_line lines[INSTRUCTION_COUNT];
    size_t size = 0;
    for (int i = 0; i < INSTRUCTION_COUNT; i++) {
        lines[i] = (struct jitdump_line){
            .code_addr = (uintptr_t)code + size, .line = instructions[i].line, .file = __FILE__
        };
        memcpy(code + size, instructions[i].bytes, instructions[i].size);
        size += instructions[i].size;
    }
    if (mprotect(code, 4096, PROT_READ | PROT_EXEC) != 0)
        return perror("hello: mprotect"), 1;
    __builtin___clear_cache((char *)code, (char *)code + size);

    struct jitdump_code description = {
        .struct_size = sizeof(description), .name = "hello_jit",
        .code_addr = (uintptr_t)code, .code_size = size,
        .lines = lines, .line_count = INSTRUCTION_COUNT,
    };
    check(jitdump_load(dump, &description, NULL)); /* written, and not yet run */

    uint64_t (*function)(uint64_t) = (uint64_t (*)(uint64_t))(uintptr_t)code, sum = 0;
    while (clock() < CLOCKS_PER_SEC)
        sum += function(1000000);
    printf("%llu\n", (unsigned long long)sum);
    check(jitdump_close(dump));
    return 0;
}
