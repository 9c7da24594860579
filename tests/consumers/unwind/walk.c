/*
 * Walks the stack at every instruction of generated functions, with the unwinder of the C
 * compiler's own run-time library, which knows them by jitdump_unwind_eh_frame() alone, or, with
 * $JITDUMP_TOOL, by the .eh_frame of that tool's ELF file.
 *
 *     walk FUNCTION...    calls the functions in a chain that ends in `leaf`
 *
 * The program stops at each instruction (on x86-64 by the trap flag; on other machines a
 * breakpoint takes the place of each instruction in turn), and there the walk must find the
 * exact address in each function of the chain, then call_chain() and main(), and the registers
 * that `keeper` has set.
 */
#define _GNU_SOURCE
#include "elf_frames.h"
#include "functions.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unwind.h>

/* libgcc's. */
void __register_frame(void *eh_frame);
void __deregister_frame(void *eh_frame);

int main(int argc, char **argv);

enum { CODE_SIZE_MAX = 512, EH_FRAME_SIZE_MAX = 512 };
static const struct function *chain[CHAIN_MAX];
static size_t chain_length;
static struct link links[CHAIN_MAX];
static unsigned long walks, failures;
static bool visited[FUNCTION_COUNT][CODE_SIZE_MAX];

/* The machine */

struct kept_register {
    int number;
    uintptr_t value;
};

#if defined(__x86_64__)
static const struct kept_register kept_registers[] = {
    {JITDUMP_X86_64_RBX, 0x101}, {JITDUMP_X86_64_RBP, 0x102}, {JITDUMP_X86_64_R12, 0x103}};
#define PC(context) (context)->uc_mcontext.gregs[REG_RIP]
enum { RETURN_SIZE = 1 };
#else
enum { RETURN_SIZE = 4 };
#endif
#if defined(__aarch64__)
static const struct kept_register kept_registers[] = {
    {JITDUMP_AARCH64_X19, 0x101}, {JITDUMP_AARCH64_X29, 0x102}, {JITDUMP_AARCH64_X20, 0x103}};
#define PC(context) (context)->uc_mcontext.pc
static const uint32_t breakpoint = 0xd4200000; /* brk #0 */
#elif defined(__riscv)
static const struct kept_register kept_registers[] = {
    {JITDUMP_RISCV64_S1, 0x101}, {JITDUMP_RISCV64_S0, 0x102}, {JITDUMP_RISCV64_S2, 0x103}};
#define PC(context) (context)->uc_mcontext.__gregs[REG_PC]
static const uint32_t breakpoint = 0x00100073; /* ebreak */
#endif

/* The walk */

struct walk {
    uintptr_t pc;         /* where it stopped */
    size_t depth;         /* the chain's function that pc is in */
    bool started;         /* the unwinder has come to pc */
    size_t frames;        /* of generated code, seen so far */
    bool found_call_chain;
    bool found_main;
    const char *failure;
};

static uintptr_t expected_address(const struct walk *walk)
{
    if (walk->frames == 0)
        return walk->pc;
    const struct function *function = chain[walk->depth - walk->frames];
    return (uintptr_t)(function->code_addr + function->return_offset);
}

static void check_kept_registers(struct walk *walk, struct _Unwind_Context *context)
{
    for (size_t i = 0; i < sizeof(kept_registers) / sizeof(kept_registers[0]); i++)
        if (_Unwind_GetGR(context, kept_registers[i].number) != kept_registers[i].value)
            walk->failure = "keeper's registers";
}

static _Unwind_Reason_Code at_frame(struct _Unwind_Context *context, void *argument)
{
    struct walk *walk = argument;
    const uintptr_t address = _Unwind_GetIP(context);
    if (!walk->started && address != walk->pc)
        return _URC_NO_REASON; /* the signal handler */
    walk->started = true;
    if (walk->frames <= walk->depth) {
        if (address != expected_address(walk)) {
            walk->failure = "address";
            return _URC_END_OF_STACK;
        }
        if (walk->frames > 0 &&
            strcmp(chain[walk->depth - walk->frames]->name, "keeper") == 0)
            check_kept_registers(walk, context);
        walk->frames++;
        return _URC_NO_REASON;
    }
    const uintptr_t start = (uintptr_t)_Unwind_FindEnclosingFunction((void *)(address - 1));
    if (!walk->found_call_chain) {
        walk->found_call_chain = start == (uintptr_t)call_chain;
        if (!walk->found_call_chain) {
            walk->failure = "caller of the first function";
            return _URC_END_OF_STACK;
        }
    }
    if (start == (uintptr_t)main)
        walk->found_main = true;
    return _URC_NO_REASON;
}

static void check_walk(uintptr_t pc)
{
    const struct function *function = function_at(pc);
    if (function == NULL)
        return;
    visited[function - functions][pc - function->code_addr] = true;
    struct walk walk = {.pc = pc};
    while (chain[walk.depth] != function)
        walk.depth++;
    _Unwind_Backtrace(at_frame, &walk);
    if (walk.failure == NULL && !walk.found_main)
        walk.failure = "main() not found";
    walks++;
    if (walk.failure != NULL) {
        failures++;
        printf("%s+%#lx: frame %zu: %s\n", function->name,
               (unsigned long)(pc - function->code_addr), walk.frames, walk.failure);
    }
}

/* Stopping at every instruction */

#if defined(__x86_64__)
static volatile sig_atomic_t stepping;

static void at_trap(int signal, siginfo_t *info, void *argument)
{
    enum { TRAP_FLAG = 0x100 };
    ucontext_t *context = argument;
    (void)signal;
    (void)info;
    if (stepping) {
        context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
        check_walk((uintptr_t)PC(context));
    } else {
        context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    }
}

static void step_through_chain(void)
{
    stepping = 1;
    __asm__ volatile("int3" : : : "memory");
    call_chain(links);
    call_chain(links); /* by the other exits */
    stepping = 0;
}
#else
static uint32_t original; /* the instruction in whose place the breakpoint is */

static void write_instruction(uintptr_t addr, uint32_t instruction)
{
    memcpy((void *)addr, &instruction, sizeof(instruction));
    __builtin___clear_cache((char *)addr, (char *)addr + sizeof(instruction));
}

static void at_trap(int signal, siginfo_t *info, void *argument)
{
    ucontext_t *context = argument;
    (void)signal;
    (void)info;
    check_walk((uintptr_t)PC(context));
    write_instruction((uintptr_t)PC(context), original);
}

static void step_through_chain(void)
{
    for (size_t i = 0; i < chain_length; i++) {
        for (uint64_t offset = 0; offset < chain[i]->code_size; offset += sizeof(breakpoint)) {
            const uintptr_t addr = (uintptr_t)(chain[i]->code_addr + offset);
            memcpy(&original, (const void *)addr, sizeof(original));
            write_instruction(addr, breakpoint);
            call_chain(links);
            call_chain(links); /* by the other exits */
            write_instruction(addr, original);
        }
    }
}
#endif

/* Each step of the descriptions must have been seen, and each function's last instruction. */
static bool all_visited(const struct function *function)
{
    const bool *offsets = visited[function - functions];
    bool all = offsets[function->code_size - RETURN_SIZE];
    for (uint64_t i = 0; i < function->unwind.step_count; i++)
        all = all && offsets[function->unwind.steps[i].code_offset];
    if (!all)
        printf("%s: not all of its states were seen\n", function->name);
    return all;
}

/* What was registered: of each function its own, or one for all. */
static void *registered[FUNCTION_COUNT];

static void register_frames(const char *tool)
{
    static uint64_t eh_frames[FUNCTION_COUNT][EH_FRAME_SIZE_MAX / sizeof(uint64_t)];
    for (size_t i = 0; tool == NULL && i < FUNCTION_COUNT; i++) {
        const struct jitdump_code code = function_code(&functions[i]);
        uint64_t size;
        check(jitdump_unwind_eh_frame(0, &code, eh_frames[i], sizeof(eh_frames[i]), &size));
        registered[i] = eh_frames[i];
        printf("%s: %lu bytes of code, %lu of eh_frame\n", code.name,
               (unsigned long)code.code_size, (unsigned long)size);
    }
    if (tool != NULL)
        registered[0] = elf_frames_place(tool);
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        if (registered[i] != NULL)
            __register_frame(registered[i]);
}

int main(int argc, char **argv)
{
    functions_place(functions_memory(), 0, NULL);
    register_frames(getenv("JITDUMP_TOOL"));
    chain_length = chain_parse(argc, argv, chain);
    chain_link(chain, chain_length, links);

    const struct sigaction action = {.sa_sigaction = at_trap, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    step_through_chain();

    bool all = true;
    for (size_t i = 0; i < chain_length; i++)
        all &= all_visited(chain[i]);
    printf("%lu walks, %lu wrong\n", walks, failures);
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        if (registered[i] != NULL)
            __deregister_frame(registered[i]);
    return all && walks != 0 && failures == 0 ? 0 : 1;
}
