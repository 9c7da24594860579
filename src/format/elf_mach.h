/*
 * The numbers of ELF machines, and the one that the library is built for: what elf_mach 0 means.
 */
#ifndef JITDUMP_FORMAT_ELF_MACH_H
#define JITDUMP_FORMAT_ELF_MACH_H

#include <stdint.h>

/* e_machine, as the ELF specifications of the machines have it: EM_* of <elf.h>, which not every
 * system has. */
enum elf_mach {
    ELF_MACH_NONE = 0,
    ELF_MACH_386 = 3,
    ELF_MACH_MIPS = 8,
    ELF_MACH_PPC = 20,
    ELF_MACH_PPC64 = 21,
    ELF_MACH_S390 = 22,
    ELF_MACH_ARM = 40,
    ELF_MACH_X86_64 = 62,
    ELF_MACH_AARCH64 = 183,
    ELF_MACH_RISCV = 243,
    ELF_MACH_LOONGARCH = 258
};

#if defined(__x86_64__)
#define BUILD_ELF_MACH ELF_MACH_X86_64
#elif defined(__i386__)
#define BUILD_ELF_MACH ELF_MACH_386
#elif defined(__aarch64__)
#define BUILD_ELF_MACH ELF_MACH_AARCH64
#elif defined(__arm__)
#define BUILD_ELF_MACH ELF_MACH_ARM
#elif defined(__riscv)
#define BUILD_ELF_MACH ELF_MACH_RISCV
#elif defined(__s390x__)
#define BUILD_ELF_MACH ELF_MACH_S390
#elif defined(__powerpc64__)
#define BUILD_ELF_MACH ELF_MACH_PPC64
#elif defined(__loongarch__)
#define BUILD_ELF_MACH ELF_MACH_LOONGARCH
#else
#define BUILD_ELF_MACH ELF_MACH_NONE /* elf_mach must be given */
#endif

/* In bytes. Of machines whose number stands for both sizes, that of today's JITs; 8 for those that are
 * not known. */
static inline uint8_t elf_mach_address_size(uint32_t number)
{
    switch (number) {
    case ELF_MACH_386:
    case ELF_MACH_MIPS:
    case ELF_MACH_PPC:
    case ELF_MACH_ARM:
        return 4;
    default:
        return 8;
    }
}

#endif
