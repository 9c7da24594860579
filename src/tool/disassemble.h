/*
 * Machine code as text, by objdump.
 */
#ifndef JITDUMP_TOOL_DISASSEMBLE_H
#define JITDUMP_TOOL_DISASSEMBLE_H

#include <stdbool.h>
#include <stdint.h>

struct disassembly {
    uint32_t elf_mach;
    bool big_endian;
    uint64_t address; /* of the first byte */
    const unsigned char *code;
    uint64_t size;
};

/* Calls `line` for each line of instructions, with its address and, as text, what objdump says of it.
 * Returns NULL, or why there is no disassembly. */
const char *disassemble(const struct disassembly *disassembly,
                        void (*line)(void *context, uint64_t address, const char *text),
                        void *context);

#endif
