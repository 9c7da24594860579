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
#elif defined(__aarch64__)
    /* x0 to x17, and q0 to q31. */
    uint64_t before[18 + 64], after[18 + 64];
    for (int i = 0; i < 82; i++)
        before[i] = UINT64_C(0x0101010101010101) * (unsigned)(i + 1);
    __jit_debug_descriptor.action_flag = JIT_REGISTER_FN; /* the last one once more */
    __asm__ volatile(
        "mov x19, %[before]\nmov x20, %[after]\nmov x21, %[function]\n"
        "ldp x0, x1, [x19]\nldp x2, x3, [x19, 16]\nldp x4, x5, [x19, 32]\nldp x6, x7, [x19, 48]\n"
        "ldp x8, x9, [x19, 64]\nldp x10, x11, [x19, 80]\nldp x12, x13, [x19, 96]\n"
        "ldp x14, x15, [x19, 112]\nldp x16, x17, [x19, 128]\nadd x19, x19, 144\n"
        "ld1 {v0.2d-v3.2d}, [x19], 64\nld1 {v4.2d-v7.2d}, [x19], 64\nld1 {v8.2d-v11.2d}, [x19], 64\n"
        "ld1 {v12.2d-v15.2d}, [x19], 64\nld1 {v16.2d-v19.2d}, [x19], 64\nld1 {v20.2d-v23.2d}, [x19], 64\n"
        "ld1 {v24.2d-v27.2d}, [x19], 64\nld1 {v28.2d-v31.2d}, [x19]\n"
        "blr x21\n"
        "stp x0, x1, [x20]\nstp x2, x3, [x20, 16]\nstp x4, x5, [x20, 32]\nstp x6, x7, [x20, 48]\n"
        "stp x8, x9, [x20, 64]\nstp x10, x11, [x20, 80]\nstp x12, x13, [x20, 96]\n"
        "stp x14, x15, [x20, 112]\nstp x16, x17, [x20, 128]\nadd x20, x20, 144\n"
        "st1 {v0.2d-v3.2d}, [x20], 64\nst1 {v4.2d-v7.2d}, [x20], 64\nst1 {v8.2d-v11.2d}, [x20], 64\n"
        "st1 {v12.2d-v15.2d}, [x20], 64\nst1 {v16.2d-v19.2d}, [x20], 64\nst1 {v20.2d-v23.2d}, [x20], 64\n"
        "st1 {v24.2d-v27.2d}, [x20], 64\nst1 {v28.2d-v31.2d}, [x20]\n"
        :
        : [before] "r"(before), [after] "r"(after), [function] "r"(__jit_debug_register_code)
        : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
          "x16", "x17", "x19", "x20", "x21", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8",
          "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22",
          "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "memory", "cc");
    for (int i = 0; i < 82; i++)
        changed += before[i] != after[i];
#endif
    return changed;
}
