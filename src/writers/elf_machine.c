#include "writers/elf_machine.h"

#include <elf.h>
#include <stddef.h>

/* Flags are those without which a reader takes the code for another ABI's. Machines whose number
 * stands for both sizes are taken for the size that JITs are written for today. */
static const struct {
    uint32_t elf_mach;
    struct elf_machine machine;
} machines[] = {
    {EM_386, {4, 0}},
    {EM_ARM, {4, 0x05000000}}, /* EABI version 5 */
    {EM_MIPS, {4, 0}},
    {EM_PPC, {4, 0}},
    {EM_SPARC, {4, 0}},
    {EM_68K, {4, 0}},
    {EM_SH, {4, 0}},
    {EM_PPC64, {8, 2}},      /* ELFv2: symbols are code, not descriptors */
    {EM_RISCV, {8, 0x0005}}, /* compressed instructions, floating-point arguments of 64 bits */
    {258, {8, 0x0043}},      /* LoongArch, the same */
};

struct elf_machine elf_machine(uint32_t elf_mach)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        if (machines[i].elf_mach == elf_mach)
            return machines[i].machine;
    return (struct elf_machine){8, 0};
}
