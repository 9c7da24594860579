#define _GNU_SOURCE
#include "functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define TEMPLATE(name)                                                                             \
    extern const unsigned char name[], name##_end[], name##_return[];                              \
    extern const struct jitdump_unwind_step name##_steps[], name##_steps_end[]
TEMPLATE(keeper);
TEMPLATE(standard);
TEMPLATE(saving);
TEMPLATE(pushing);
TEMPLATE(leaf);

struct function functions[FUNCTION_COUNT];

void check(int error)
{
    if (error != 0) {
        fprintf(stderr, "%s\n", jitdump_strerror(error));
        exit(1);
    }
}

static struct function function(const char *name, const unsigned char *start,
                                const unsigned char *end, const unsigned char *returns,
                                const struct jitdump_unwind_step *steps,
                                const struct jitdump_unwind_step *steps_end)
{
    return (struct function){
        .name = name,
        .code_bytes = start,
        .code_size = (uint64_t)(end - start),
        .return_offset = (uint64_t)(returns - start),
        .unwind = {.struct_size = sizeof(struct jitdump_unwind),
                   .frame = strcmp(name, "standard") == 0 ? JITDUMP_FRAME_POINTER
                                                          : JITDUMP_FRAME_STEPS,
                   .steps = steps,
                   .step_count = (uint64_t)(steps_end - steps)}};
}

unsigned char *functions_memory(void)
{
    unsigned char *const memory =
        mmap(NULL, FUNCTIONS_MEMORY_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return memory;
}

unsigned char *functions_place(unsigned char *to, size_t first, const struct jitdump *dump)
{
#define FUNCTION(name)                                                                             \
    function(#name, name, name##_end, name##_return, name##_steps, name##_steps_end)
    const struct function templates[FUNCTION_COUNT] = {
        FUNCTION(keeper), FUNCTION(standard), FUNCTION(saving), FUNCTION(pushing), FUNCTION(leaf)};
#undef FUNCTION
    unsigned char *const start = to;
    for (size_t n = 0; n < FUNCTION_COUNT; n++) {
        const size_t i = (first + n) % FUNCTION_COUNT;
        functions[i] = templates[i];
        functions[i].code_addr = (uint64_t)(uintptr_t)to;
        memcpy(to, functions[i].code_bytes, (size_t)functions[i].code_size);
        const struct jitdump_code code = function_code(&functions[i]);
        uint64_t gap;
        check(jitdump_unwind_size(dump, &code, &gap));
        to += (code.code_size + gap + 15) / 16 * 16;
    }
    __builtin___clear_cache((char *)start, (char *)to);
    return to;
}

struct jitdump_code function_code(const struct function *function)
{
    return (struct jitdump_code){.struct_size = sizeof(struct jitdump_code),
                                 .name = function->name,
                                 .code_addr = function->code_addr,
                                 .code_size = function->code_size,
                                 .unwind = &function->unwind};
}

struct function *function_at(uint64_t addr)
{
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        if (addr - functions[i].code_addr < functions[i].code_size)
            return &functions[i];
    return NULL;
}

static const struct function *function_named(const char *name)
{
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    fprintf(stderr, "no function %s\n", name);
    exit(1);
}

size_t chain_parse(int argc, char **argv, const struct function *chain[CHAIN_MAX])
{
    size_t length = 0;
    for (int i = 1; i < argc && length < CHAIN_MAX - 1; i++)
        chain[length++] = function_named(argv[i]);
    chain[length++] = function_named("leaf");
    return length;
}

void chain_link(const struct function *const *chain, size_t length, struct link links[CHAIN_MAX])
{
    for (size_t i = 0; i < length; i++)
        links[i] = (struct link){.code_addr = (uintptr_t)chain[i]->code_addr};
}

__attribute__((noinline)) void call_chain(struct link *links)
{
    void (*first)(struct link *);
    memcpy(&first, &links->code_addr, sizeof(first));
    first(links);
    /* Not a tail call: call_chain() must be in the call chain. */
    __asm__ volatile("" : : : "memory");
}
