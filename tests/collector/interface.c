/* GDB's JIT interface, as LLVM and others have it: a shared object of a runtime that registers what it is
 * given. */
#include <stdint.h>
#include <stdlib.h>

enum { JIT_NOACTION, JIT_REGISTER_FN, JIT_UNREGISTER_FN };

struct jit_code_entry {
    struct jit_code_entry *next_entry;
    struct jit_code_entry *prev_entry;
    const char *symfile_addr;
    uint64_t symfile_size;
};

struct jit_descriptor {
    uint32_t version;
    uint32_t action_flag;
    struct jit_code_entry *relevant_entry;
    struct jit_code_entry *first_entry;
};

void __jit_debug_register_code(void);
struct jit_code_entry *register_object(const char *object, uint64_t size);
void unregister_object(struct jit_code_entry *entry);
void change_nothing(void);
int changed_registers(void);

#ifdef LOCAL
#define VISIBILITY __attribute__((visibility("hidden")))
#else
#define VISIBILITY
#endif

VISIBILITY __attribute__((noinline)) void __jit_debug_register_code(void)
{
    __asm__ volatile("" ::: "memory");
}

VISIBILITY struct jit_descriptor __jit_debug_descriptor = {1, JIT_NOACTION, NULL, NULL};

struct jit_code_entry *register_object(const char *object, uint64_t size)
{
    struct jit_code_entry *const entry = calloc(1, sizeof(*entry));
    if (entry == NULL)
        abort();
    *entry = (struct jit_code_entry){
        .next_entry = __jit_debug_descriptor.first_entry, .symfile_addr = object, .symfile_size = size};
    if (entry->next_entry != NULL)
        entry->next_entry->prev_entry = entry;
    __jit_debug_descriptor.first_entry = entry;
    __jit_debug_descriptor.relevant_entry = entry;
    __jit_debug_descriptor.action_flag = JIT_REGISTER_FN;
    __jit_debug_register_code();
    return entry;
}

void unregister_object(struct jit_code_entry *entry)
{
    *(entry->prev_entry != NULL ? &entry->prev_entry->next_entry
                                : &__jit_debug_descriptor.first_entry) = entry->next_entry;
    if (entry->next_entry != NULL)
        entry->next_entry->prev_entry = entry->prev_entry;
    __jit_debug_descriptor.relevant_entry = entry;
    __jit_debug_descriptor.action_flag = JIT_UNREGISTER_FN;
    __jit_debug_register_code();
    free(entry);
}

void change_nothing(void)
{
    __jit_debug_descriptor.relevant_entry = NULL;
    __jit_debug_descriptor.action_flag = JIT_NOACTION;
    __jit_debug_register_code();
}

/* How many of the registers that a call may change have another value behind __jit_debug_register_code(), as
 * what a compiler keeps in them because it has seen that function must not. */
int changed_registers(void)
{
    int changed = 0;
#if defined(__x86_64__)
    uint64_t before[16 + 9], after[16 + 9];
    for (int i = 0; i < 25; i++)
        before[i] = UINT64_C(0x0101010101010101) * (unsigned)(i + 1);
    __jit_debug_descriptor.action_flag = JIT_REGISTER_FN; /* the last one once more */
    __asm__ volatile(
        "mov %[before], %%r12\n"
        "mov %[after], %%r13\n"
        "movq (%%r12), %%xmm0\nmovq 8(%%r12), %%xmm1\nmovq 16(%%r12), %%xmm2\nmovq 24(%%r12), %%xmm3\n"
        "movq 32(%%r12), %%xmm4\nmovq 40(%%r12), %%xmm5\nmovq 48(%%r12), %%xmm6\nmovq 56(%%r12), %%xmm7\n"
        "movq 64(%%r12), %%xmm8\nmovq 72(%%r12), %%xmm9\nmovq 80(%%r12), %%xmm10\nmovq 88(%%r12), %%xmm11\n"
        "movq 96(%%r12), %%xmm12\nmovq 104(%%r12), %%xmm13\nmovq 112(%%r12), %%xmm14\nmovq 120(%%r12), %%xmm15\n"
        "mov 128(%%r12), %%rax\nmov 136(%%r12), %%rcx\nmov 144(%%r12), %%rdx\nmov 152(%%r12), %%rsi\n"
        "mov 160(%%r12), %%rdi\nmov 168(%%r12), %%r8\nmov 176(%%r12), %%r9\nmov 184(%%r12), %%r10\n"
        "mov 192(%%r12), %%r11\n"
        "sub $128, %%rsp\n"
        "mov %%rsp, %%r14\n"
        "and $-16, %%rsp\n"
        "call *%[function]\n"
        "mov %%r14, %%rsp\n"
        "add $128, %%rsp\n"
        "movq %%xmm0, (%%r13)\nmovq %%xmm1, 8(%%r13)\nmovq %%xmm2, 16(%%r13)\nmovq %%xmm3, 24(%%r13)\n"
        "movq %%xmm4, 32(%%r13)\nmovq %%xmm5, 40(%%r13)\nmovq %%xmm6, 48(%%r13)\nmovq %%xmm7, 56(%%r13)\n"
        "movq %%xmm8, 64(%%r13)\nmovq %%xmm9, 72(%%r13)\nmovq %%xmm10, 80(%%r13)\nmovq %%xmm11, 88(%%r13)\n"
        "movq %%xmm12, 96(%%r13)\nmovq %%xmm13, 104(%%r13)\nmovq %%xmm14, 112(%%r13)\nmovq %%xmm15, 120(%%r13)\n"
        "mov %%rax, 128(%%r13)\nmov %%rcx, 136(%%r13)\nmov %%rdx, 144(%%r13)\nmov %%rsi, 152(%%r13)\n"
        "mov %%rdi, 160(%%r13)\nmov %%r8, 168(%%r13)\nmov %%r9, 176(%%r13)\nmov %%r10, 184(%%r13)\n"
        "mov %%r11, 192(%%r13)\n"
        :
        : [before] "r"(before), [after] "r"(after), [function] "r"(__jit_debug_register_code)
        : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "xmm0", "xmm1",
          "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
          "xmm13", "xmm14", "xmm15", "memory", "cc");
    for (int i = 0; i < 25; i++)
        changed += before[i] != after[i];
#endif
    return changed;
}
