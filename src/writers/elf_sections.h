/*
 * The headers of an ELF file of either class and byte order.
 */
#ifndef JITDUMP_WRITERS_ELF_SECTIONS_H
#define JITDUMP_WRITERS_ELF_SECTIONS_H

#include "writers/bytes.h"

/* What is the same in all headers of a file. */
struct elf_machine {
    uint8_t address_size; /* 4: ELFCLASS32, 8: ELFCLASS64 */
    uint32_t flags;       /* e_flags */
};

struct elf_section {
    const char *name;
    uint32_t type;
    uint32_t flags;
    uint64_t address; /* 0: not loaded */
    uint64_t offset;
    uint64_t size;
    uint32_t link; /* as `info`, by the type */
    uint32_t info;
    uint32_t alignment;
    uint32_t entry_size;
};

struct elf_segment {
    uint32_t type;
    uint32_t flags;
    uint64_t offset;
    uint64_t address;
    uint64_t size;        /* in the file */
    uint64_t memory_size; /* as large, or larger */
    uint32_t alignment;
};

struct elf_header {
    uint16_t type;
    uint32_t elf_mach;
    struct elf_machine machine;
    uint64_t section_offset; /* of the section headers; the segments' follow the file's header */
    uint16_t section_count;
    uint16_t names; /* the section that has the sections' names */
    uint16_t segment_count;
};

/* How many bytes the file's header and those of so many segments take. */
size_t elf_headers_size(const struct elf_machine *machine, unsigned segment_count);

void elf_put_header(struct bytes *to, const struct elf_header *header);
void elf_put_segment(struct bytes *to, const struct elf_machine *machine,
                     const struct elf_segment *segment);
void elf_put_section(struct bytes *to, const struct elf_machine *machine,
                     const struct elf_section *section, uint32_t name);

#endif
