/*
 * The machines that dumps are of: ELF's numbers for them, and their names.
 */
#ifndef JITDUMP_FORMAT_MACHINE_H
#define JITDUMP_FORMAT_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/* e_machine, as the ELF specifications of the machines have it. */
enum machine_number {
    MACHINE_386 = 3,
    MACHINE_PPC64 = 21,
    MACHINE_S390 = 22,
    MACHINE_ARM = 40,
    MACHINE_X86_64 = 62,
    MACHINE_AARCH64 = 183,
    MACHINE_RISCV = 243,
    MACHINE_LOONGARCH = 258
};

struct machine {
    uint32_t number;
    const char *name;
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
