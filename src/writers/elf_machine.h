/*
 * What an ELF file's header says of a machine, beside its number.
 */
#ifndef JITDUMP_WRITERS_ELF_MACHINE_H
#define JITDUMP_WRITERS_ELF_MACHINE_H

#include <stdint.h>

struct elf_machine {
    uint8_t address_size; /* 4: ELFCLASS32, 8: ELFCLASS64 */
    uint32_t flags;       /* e_flags */
};

/* A machine that is not known is one of 64 bits without flags. */
struct elf_machine elf_machine(uint32_t elf_mach);

#endif
