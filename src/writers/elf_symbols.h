/*
 * The symbol table of an ELF file, and the names in it: functions, whose names a string table of other
 * sections has already. So no name is looked up a second time.
 */
#ifndef JITDUMP_WRITERS_ELF_SYMBOLS_H
#define JITDUMP_WRITERS_ELF_SYMBOLS_H

#include "writers/elf_sections.h"
#include "writers/string_table.h"

struct elf_symbols {
    struct elf_machine machine;
    struct bytes entries; /* the first is none, as in every table */
    struct bytes names;   /* each once */
    /* An array of uint32_t, by the number of the string: where `names` has it. 0: not yet. */
    struct bytes name_offsets;
};

void elf_symbols_init(struct elf_symbols *symbols, const struct elf_machine *machine, bool big_endian);
void elf_symbols_free(struct elf_symbols *symbols);

/* A function whose name is `name` of `strings`, always the same table. After a failure of that the number is
 * 0, and the symbol has no name. */
void elf_symbols_add(struct elf_symbols *symbols, const struct string_table *strings,
                     struct table_string name, uint64_t address, uint64_t size, uint16_t section);

/* Whether memory ran out. */
bool elf_symbols_failed(const struct elf_symbols *symbols);

uint32_t elf_symbol_size(const struct elf_machine *machine);

#endif
