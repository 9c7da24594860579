/*
 * What is known of the machines that dumps are of.
 */
#ifndef JITDUMP_FORMAT_MACHINE_H
#define JITDUMP_FORMAT_MACHINE_H

#include "elf_mach.h"

#include <stdint.h>

struct machine {
    uint32_t number;
    const char *name;
    /* e_flags of ELF files, without which readers take the code for another ABI's. */
    uint32_t elf_flags;
    /* For objdump's option -m. */
    const char *objdump;
    /* DWARF's number for the register with the return address in call frame information. */
    uint32_t return_address;
    /* DWARF's numbers: how many registers have a name, and their names. */
    uint32_t register_count;
    const char *const *registers;
};

/* NULL: none that is known here. */
const struct machine *jd_machine(uint32_t number);

#endif
