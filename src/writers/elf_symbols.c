#include "writers/elf_symbols.h"

#include <elf.h>

void elf_symbols_init(struct elf_symbols *symbols, const struct elf_machine *machine, bool big_endian)
{
    *symbols = (struct elf_symbols){.machine = *machine, .entries = {.big_endian = big_endian}};
    bytes_zeros(&symbols->entries, elf_symbol_size(machine));
    bytes_u8(&symbols->names, 0);
}

void elf_symbols_free(struct elf_symbols *symbols)
{
    bytes_free(&symbols->entries);
    bytes_free(&symbols->names);
    bytes_free(&symbols->name_offsets);
}

bool elf_symbols_failed(const struct elf_symbols *symbols)
{
    return symbols->entries.failed || symbols->names.failed || symbols->name_offsets.failed;
}

uint32_t elf_symbol_size(const struct elf_machine *machine)
{
    return machine->address_size == 8 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

/* There are no more bytes of names than in `strings`, which has checked that 32 bits count them. */
static uint32_t add_name(struct elf_symbols *symbols, const struct string_table *strings,
                         struct table_string name)
{
    struct bytes *const offsets = &symbols->name_offsets;
    const size_t at = name.number * sizeof(uint32_t);
    uint32_t offset;
    if (at >= offsets->size)
        bytes_zeros(offsets, at + sizeof(offset) - offsets->size);
    if (offsets->failed || name.number == 0)
        return 0;
    memcpy(&offset, offsets->data + at, sizeof(offset));
    if (offset == 0) {
        const char *const text = (const char *)strings->bytes.data + name.offset;
        offset = (uint32_t)symbols->names.size;
        memcpy(offsets->data + at, &offset, sizeof(offset));
        bytes_copy(&symbols->names, text, strlen(text) + 1);
    }
    return offset;
}

void elf_symbols_add(struct elf_symbols *symbols, const struct string_table *strings,
                     struct table_string name, uint64_t address, uint64_t size, uint16_t section)
{
    struct bytes *const to = &symbols->entries;
    const bool wide = symbols->machine.address_size == 8;
    /* The same fields in both classes, but in another order. */
    bytes_u32(to, add_name(symbols, strings, name));
    if (!wide) {
        bytes_u32(to, address);
        bytes_u32(to, size);
    }
    bytes_u8(to, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
    bytes_u8(to, STV_DEFAULT);
    bytes_u16(to, section);
    if (wide) {
        bytes_put(to, address, 8);
        bytes_put(to, size, 8);
    }
}
