#include "machine.h"

#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum elf_flags {
    ARM_EABI_5 = 0x05000000,
    RISCV_RVC = 0x0001,
    RISCV_DOUBLE = 0x0004, /* floating-point arguments of 64 bits */
    PPC64_ELF_V2 = 2,      /* symbols are code, not descriptors of functions */
    LOONGARCH_DOUBLE = 0x03,
    LOONGARCH_OBJECT_V1 = 0x40
};

/* In the order of the psABIs' DWARF register numbers. */
static const char *const registers_386[] = {"eax", "ecx", "edx", "ebx", "esp",
                                            "ebp", "esi", "edi", "eip"};
static const char *const registers_x86_64[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                               "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                               "r12", "r13", "r14", "r15", "rip"};
static const char *const registers_aarch64[] = {
    "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
    "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
    "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp"};
static const char *const registers_riscv[] = {
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0",  "s1",  "a0", "a1", "a2", "a3", "a4", "a5",
    "a6",   "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8",  "s9",  "s10", "s11", "t3", "t4", "t5", "t6"};
static const char *const registers_arm[] = {"r0", "r1", "r2",  "r3",  "r4",  "r5", "r6", "r7",
                                            "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc"};

static const struct machine machines[] = {
    {ELF_MACH_386, "i386", 0, "i386", 8, COUNT(registers_386), registers_386},
    {ELF_MACH_MIPS, "mips", 0, "mips", 31, 0, NULL},
    {ELF_MACH_PPC, "ppc", 0, "powerpc:common", 65, 0, NULL},
    {ELF_MACH_X86_64, "x86-64", 0, "i386:x86-64", 16, COUNT(registers_x86_64), registers_x86_64},
    {ELF_MACH_ARM, "arm", ARM_EABI_5, "arm", 14, COUNT(registers_arm), registers_arm},
    {ELF_MACH_AARCH64, "aarch64", 0, "aarch64", 30, COUNT(registers_aarch64),
     registers_aarch64},
    {ELF_MACH_RISCV, "riscv", RISCV_RVC | RISCV_DOUBLE, "riscv:rv64", 1,
     COUNT(registers_riscv), registers_riscv},
    {ELF_MACH_S390, "s390x", 0, "s390:64-bit", 14, 0, NULL},
    {ELF_MACH_PPC64, "ppc64", PPC64_ELF_V2, "powerpc:common64", 65, 0, NULL},
    {ELF_MACH_LOONGARCH, "loongarch", LOONGARCH_DOUBLE | LOONGARCH_OBJECT_V1, "loongarch64", 1, 0,
     NULL},
};

const struct machine *jd_machine(uint32_t number)
{
    for (size_t i = 0; i < COUNT(machines); i++)
        if (machines[i].number == number)
            return &machines[i];
    return NULL;
}
