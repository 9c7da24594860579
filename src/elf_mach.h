/*
 * The ELF machine that the library is built for: what elf_mach 0 means.
 */
#ifndef JITDUMP_ELF_MACH_H
#define JITDUMP_ELF_MACH_H

#include <elf.h>

#if defined(__x86_64__)
#define BUILD_ELF_MACH EM_X86_64
#elif defined(__i386__)
#define BUILD_ELF_MACH EM_386
#elif defined(__aarch64__)
#define BUILD_ELF_MACH EM_AARCH64
#elif defined(__arm__)
#define BUILD_ELF_MACH EM_ARM
#elif defined(__riscv)
#define BUILD_ELF_MACH EM_RISCV
#elif defined(__s390x__)
#define BUILD_ELF_MACH EM_S390
#elif defined(__powerpc64__)
#define BUILD_ELF_MACH EM_PPC64
#elif defined(__loongarch__)
#define BUILD_ELF_MACH 258 /* EM_LOONGARCH, which older headers lack */
#else
#define BUILD_ELF_MACH EM_NONE /* elf_mach must be given */
#endif

#endif
