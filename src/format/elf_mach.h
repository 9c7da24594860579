/*
 * The ELF machine that the library is built for: what elf_mach 0 means.
 */
#ifndef JITDUMP_FORMAT_ELF_MACH_H
#define JITDUMP_FORMAT_ELF_MACH_H

/* e_machine, as the ELF specifications of the machines have it: EM_* of <elf.h>, which not every
 * system has. */
enum elf_mach {
    MACHINE_NONE = 0,
    MACHINE_386 = 3,
    MACHINE_MIPS = 8,
    MACHINE_PPC = 20,
    MACHINE_PPC64 = 21,
    MACHINE_S390 = 22,
    MACHINE_ARM = 40,
    MACHINE_X86_64 = 62,
    MACHINE_AARCH64 = 183,
    MACHINE_RISCV = 243,
    MACHINE_LOONGARCH = 258
};

#if defined(__x86_64__)
#define BUILD_ELF_MACH MACHINE_X86_64
#elif defined(__i386__)
#define BUILD_ELF_MACH MACHINE_386
#elif defined(__aarch64__)
#define BUILD_ELF_MACH MACHINE_AARCH64
#elif defined(__arm__)
#define BUILD_ELF_MACH MACHINE_ARM
#elif defined(__riscv)
#define BUILD_ELF_MACH MACHINE_RISCV
#elif defined(__s390x__)
#define BUILD_ELF_MACH MACHINE_S390
#elif defined(__powerpc64__)
#define BUILD_ELF_MACH MACHINE_PPC64
#elif defined(__loongarch__)
#define BUILD_ELF_MACH MACHINE_LOONGARCH
#else
#define BUILD_ELF_MACH MACHINE_NONE /* elf_mach must be given */
#endif

#endif
