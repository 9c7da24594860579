#include "writers/elf_sections.h"

#include <elf.h>

static bool is_64(const struct elf_machine *machine)
{
    return machine->address_size == 8;
}

size_t elf_headers_size(const struct elf_machine *machine, unsigned segment_count)
{
    return is_64(machine) ? sizeof(Elf64_Ehdr) + segment_count * sizeof(Elf64_Phdr)
                          : sizeof(Elf32_Ehdr) + segment_count * sizeof(Elf32_Phdr);
}

void elf_put_header(struct bytes *to, const struct elf_header *header)
{
    const struct elf_machine *const machine = &header->machine;
    const unsigned word = machine->address_size;
    const bool wide = is_64(machine);
    bytes_copy(to, ELFMAG, SELFMAG);
    bytes_u8(to, wide ? ELFCLASS64 : ELFCLASS32);
    bytes_u8(to, to->big_endian ? ELFDATA2MSB : ELFDATA2LSB);
    bytes_u8(to, EV_CURRENT);
    bytes_zeros(to, EI_NIDENT - EI_OSABI);
    bytes_u16(to, header->type);
    bytes_u16(to, header->elf_mach);
    bytes_u32(to, EV_CURRENT);
    bytes_put(to, 0, word); /* e_entry */
    bytes_put(to, elf_headers_size(machine, 0), word);
    bytes_put(to, header->section_offset, word);
    bytes_u32(to, machine->flags);
    bytes_u16(to, elf_headers_size(machine, 0));
    bytes_u16(to, wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
    bytes_u16(to, header->segment_count);
    bytes_u16(to, wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
    bytes_u16(to, header->section_count);
    bytes_u16(to, header->names);
}

void elf_put_segment(struct bytes *to, const struct elf_machine *machine,
                     const struct elf_segment *segment)
{
    const unsigned word = machine->address_size;
    bytes_u32(to, segment->type);
    if (is_64(machine))
        bytes_u32(to, segment->flags);
    bytes_put(to, segment->offset, word);
    bytes_put(to, segment->address, word);
    bytes_put(to, segment->address, word);
    bytes_put(to, segment->size, word);
    bytes_put(to, segment->memory_size, word);
    if (!is_64(machine))
        bytes_u32(to, segment->flags);
    bytes_put(to, segment->alignment, word);
}

void elf_put_section(struct bytes *to, const struct elf_machine *machine,
                     const struct elf_section *section, uint32_t name)
{
    const unsigned word = machine->address_size;
    bytes_u32(to, name);
    bytes_u32(to, section->type);
    bytes_put(to, section->flags, word);
    bytes_put(to, section->address, word);
    bytes_put(to, section->offset, word);
    bytes_put(to, section->size, word);
    bytes_u32(to, section->link);
    bytes_u32(to, section->info);
    bytes_put(to, section->alignment, word);
    bytes_put(to, section->entry_size, word);
}
