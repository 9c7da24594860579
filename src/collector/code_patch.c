#include "platform/c_library.h"

#include "code_patch.h"

#include "code_enter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The function's first bytes become a jump to a page near it, since there is little room and the jumps that
 * fit have a short reach. There, handler and context are put into registers, which are saved, and what
 * follows jumps to jd_code_enter(), which saves the others.
 */
#if defined(__x86_64__)

enum { JUMP_SIZE = 5, STUB_SIZE = 36 };
#define REACH (INT64_C(2) << 30)

/* jmp stub */
static void make_jump(unsigned char *to, int64_t distance)
{
    const int32_t from_end = (int32_t)(distance - JUMP_SIZE);
    to[0] = 0xe9;
    memcpy(to + 1, &from_end, sizeof(from_end));
}

/* push %rax; push %rdi; push %rsi; movabs $context, %rdi; movabs $handler, %rsi; movabs $enter, %rax;
 * notrack jmp *%rax */
static void make_stub(unsigned char *to, void (*handler)(void *), const void *context)
{
    const uint64_t numbers[] = {(uintptr_t)context, (uintptr_t)handler, (uintptr_t)jd_code_enter};
    static const unsigned char moves[][2] = {{0x48, 0xbf}, {0x48, 0xbe}, {0x48, 0xb8}};
    memcpy(to, "\x50\x57\x56", 3);
    to += 3;
    for (int i = 0; i < 3; i++) {
        memcpy(to, moves[i], sizeof(moves[i]));
        memcpy(to + 2, &numbers[i], sizeof(numbers[i]));
        to += 10;
    }
    memcpy(to, "\x3e\xff\xe0", 3);
}

/* Whether what the compiler has put between functions: nops of any length, int3, or zeros. */
static bool is_padding(const unsigned char *code, uint64_t size)
{
    static const unsigned char begins[] = {0x90, 0xcc, 0x00, 0x66, 0x0f, 0x2e};
    return size == 0 || memchr(begins, code[0], sizeof(begins)) != NULL;
}

/* A function that does nothing, of which `*used` bytes are executed. */
static bool does_nothing(const unsigned char *code, uint64_t size, uint64_t *used)
{
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    static const unsigned char frame[] = {0x55, 0x48, 0x89, 0xe5}; /* push %rbp; mov %rsp, %rbp */
    uint64_t at = 0;
    if (size >= at + sizeof(endbr64) && memcmp(code, endbr64, sizeof(endbr64)) == 0)
        at += sizeof(endbr64);
    const bool has_frame =
        size >= at + sizeof(frame) && memcmp(code + at, frame, sizeof(frame)) == 0;
    if (has_frame)
        at += sizeof(frame);
    while (at < size && code[at] == 0x90)
        at++;
    if (has_frame && at < size && code[at] == 0x5d) /* pop %rbp */
        at++;
    *used = at + 1;
    return at < size && code[at] == 0xc3;
}

#elif defined(__aarch64__)

enum { JUMP_SIZE = 4, STUB_SIZE = 48 };
#define REACH (INT64_C(128) << 20)

/* b stub */
static void make_jump(unsigned char *to, int64_t distance)
{
    const uint32_t jump = UINT32_C(0x14000000) | ((uint32_t)(distance / 4) & UINT32_C(0x03ffffff));
    memcpy(to, &jump, sizeof(jump));
}

/* stp x0, x1, [sp, -16]!; stp x16, x17, [sp, -16]!; ldr x0, 24; ldr x1, 32; ldr x16, 40; br x16; the
 * three numbers, by their offsets */
static void make_stub(unsigned char *to, void (*handler)(void *), const void *context)
{
    static const uint32_t code[] = {0xa9bf07e0, 0xa9bf47f0, 0x58000080,
                                    0x580000a1, 0x580000d0, 0xd61f0200};
    const uint64_t numbers[] = {(uintptr_t)context, (uintptr_t)handler, (uintptr_t)jd_code_enter};
    memcpy(to, code, sizeof(code));
    memcpy(to + sizeof(code), numbers, sizeof(numbers));
}

static bool is_padding(const unsigned char *code, uint64_t size)
{
    (void)code;
    return size == 0;
}

/* Up to the first return there is nothing but nop and the marks of branch targets and signatures. */
static bool does_nothing(const unsigned char *code, uint64_t size, uint64_t *used)
{
    for (uint64_t at = 0; at + 4 <= size && at < 16; at += 4) {
        uint32_t instruction;
        memcpy(&instruction, code + at, sizeof(instruction));
        *used = at + 4;
        if (instruction == 0xd65f03c0)
            return true;
        if ((instruction & 0xfffff01f) != 0xd503201f) /* hint */
            return false;
    }
    return false;
}

#endif

#if defined(__x86_64__) || defined(__aarch64__)

static int64_t distance_of(uintptr_t from, const void *to)
{
    return (int64_t)((uint64_t)(uintptr_t)to - from);
}

static void *page_at(uintptr_t hint, size_t page)
{
    void *const made = mmap((void *)hint, page, PROT_READ | PROT_WRITE, // NOLINT
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return made != MAP_FAILED ? made : NULL;
}

/* The nearest free page that the jump reaches; NULL: there is none. */
static void *page_near(uintptr_t address, size_t page)
{
    const int64_t margin = INT64_C(1) << 20;
    const uintptr_t start = address / page * page;
    for (int64_t far = (int64_t)page; far < REACH - margin; far += far / 16 / (int64_t)page * (int64_t)page + (int64_t)page) {
        const uintptr_t sides[] = {start - (uintptr_t)far, start + (uintptr_t)far};
        for (int i = 0; i < 2; i++) {
            void *const made = page_at(sides[i], page);
            if (made == NULL)
                continue;
            const int64_t distance = distance_of(address, made);
            if (distance < REACH - margin && distance > margin - REACH)
                return made;
            munmap(made, page); /* an older kernel takes it for a hint */
        }
    }
    return NULL;
}

/* By the file that has the process's memory: it needs no right to write there, and others may go on
 * executing the page. Where it is not permitted, by that right. */
static bool overwrite(uintptr_t address, const unsigned char *bytes, size_t size, size_t page)
{
    const int file = open("/proc/self/mem", O_WRONLY | O_CLOEXEC);
    bool done = false;
    if (file >= 0) {
        done = pwrite(file, bytes, size, (off_t)address) == (ssize_t)size;
        close(file);
    }
    if (!done) {
        void *const start = (void *)(address / page * page); // NOLINT
        const size_t length = address % page + size;
        if (mprotect(start, length, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
            return false;
        memcpy((void *)address, bytes, size); // NOLINT
        mprotect(start, length, PROT_READ | PROT_EXEC);
    }
    __builtin___clear_cache((char *)address, (char *)address + size); // NOLINT
    return true;
}

const char *jd_patch_function(uintptr_t address, uint64_t size, void (*handler)(void *), void *context)
{
    const unsigned char *const code = (const unsigned char *)address; // NOLINT
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char jump[JUMP_SIZE];
    uint64_t used;
    if (!jd_code_enter_prepare())
        return "the processor can't save all registers";
    if (!does_nothing(code, size, &used))
        return "it does something";
    if (size < JUMP_SIZE || (used < JUMP_SIZE && !is_padding(code + used, JUMP_SIZE - used)))
        return "there is no room for a jump";
    unsigned char *const stub = page_near(address, page);
    if (stub == NULL)
        return "no memory is free near it";
    make_stub(stub, handler, context);
    make_jump(jump, distance_of(address, stub));
    __builtin___clear_cache((char *)stub, (char *)stub + STUB_SIZE);
    if (mprotect(stub, page, PROT_READ | PROT_EXEC) != 0 ||
        !overwrite(address, jump, sizeof(jump), page)) {
        munmap(stub, page);
        return "its memory can't be changed";
    }
    return NULL;
}

#else

const char *jd_patch_function(uintptr_t address, uint64_t size, void (*handler)(void *), void *context)
{
    (void)address;
    (void)size;
    (void)handler;
    (void)context;
    return "the machine's instructions are not known";
}

#endif
