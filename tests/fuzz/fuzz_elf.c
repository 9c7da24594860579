/*
 * Any bytes as a dump, read and written as ELF files: nothing may be touched that is not there,
 * memory may run out anywhere, and what is called a success is a file whose parts lie where its
 * headers say.
 *
 * The input is that of instant.h.
 */
#define _GNU_SOURCE
#include "instant.h"
#include "target.h"

#include "writers/elf_extent.h"
#include "writers/elf_writer.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *target_output;

enum { RELATIVE = 1, DYNSYM = 2, FRAMES_ELSEWHERE = 8 };

static void expect(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "not so: %s\n", what);
        abort();
    }
}

static void read_at(int fd, uint64_t offset, void *to, size_t size)
{
    expect(pread(fd, to, size, (off_t)offset) == (ssize_t)size, "it is in the file");
}

/* .eh_frame: entry after entry up to the terminator. */
static void check_frames(int fd, const Elf64_Shdr *section, bool swapped)
{
    uint64_t at = 0;
    for (;;) {
        uint32_t length;
        expect(at + sizeof(length) <= section->sh_size, "a terminator");
        read_at(fd, section->sh_offset + at, &length, sizeof(length));
        if (swapped)
            length = __builtin_bswap32(length);
        at += sizeof(length) + length;
        if (length == 0)
            break;
    }
    expect(at == section->sh_size, "nothing behind the terminator");
}

/* The search table: ascending. */
static void check_table(int fd, const Elf64_Shdr *section, bool swapped)
{
    int64_t last = INT64_MIN;
    expect(section->sh_size >= 12 && section->sh_size % 8 == 4, "its size");
    for (uint64_t at = 12; at < section->sh_size; at += 8) {
        uint32_t location;
        read_at(fd, section->sh_offset + at, &location, sizeof(location));
        const int32_t value = (int32_t)(swapped ? __builtin_bswap32(location) : location);
        expect(value >= last, "ascending");
        last = value;
    }
}

/* Files of 64 bits in this machine's order are looked at as a whole. */
static void check_file(int fd, const struct elf_result *result, bool swapped, bool has_hole)
{
    Elf64_Ehdr header;
    struct stat status;
    read_at(fd, 0, &header, sizeof(header));
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || swapped)
        return;
    expect(fstat(fd, &status) == 0, "a file");
    const uint64_t size = (uint64_t)status.st_size;
    expect(header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr) == size, "headers at the end");
    uint64_t end = 0;
    for (uint16_t i = 1; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        read_at(fd, header.e_shoff + i * sizeof(section), &section, sizeof(section));
        expect(section.sh_offset >= end, "sections in their order");
        expect(section.sh_offset <= size && section.sh_size <= size - section.sh_offset,
               "sections in the file");
        end = section.sh_offset + section.sh_size;
        char name[16] = "";
        Elf64_Shdr names;
        read_at(fd, header.e_shoff + header.e_shstrndx * sizeof(names), &names, sizeof(names));
        expect(pread(fd, name, sizeof(name) - 1, (off_t)(names.sh_offset + section.sh_name)) > 0,
               "a name");
        if (has_hole && strcmp(name, ".eh_frame") == 0)
            expect(section.sh_addr == result->frame_address &&
                       section.sh_offset == result->frame_offset, "frames elsewhere");
        else if ((section.sh_flags & SHF_ALLOC) != 0)
            expect(section.sh_addr - section.sh_offset == result->load_address,
                   "address minus offset");
        if (strcmp(name, ".eh_frame") == 0)
            check_frames(fd, &section, swapped);
        if (strcmp(name, ".eh_frame_hdr") == 0)
            check_table(fd, &section, swapped);
    }
}

static void write_pieces(const struct history *history, const struct placed *pieces, size_t count,
                         uint8_t bits)
{
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("elf", 0);
    while (count > 0) {
        const size_t reach = elf_reach(pieces, count);
        const uint64_t room = elf_hole_size(history, pieces, reach);
        const bool has_hole = (bits & FRAMES_ELSEWHERE) != 0 && room != 0 && reach > 0 &&
                              pieces[0].address >= room + 4096 &&
                              pieces[reach - 1].address - pieces[0].address < ELF_HOLE_REACH / 2 &&
                              room < ELF_HOLE_REACH / 4 &&
                              pieces[reach - 1].piece->code_size < ELF_HOLE_REACH / 8;
        const struct elf_options options = {
            .relative = (bits & RELATIVE) != 0,
            .dynsym = (bits & DYNSYM) != 0,
            .hole_address = has_hole ? (pieces[0].address - room) / 4096 * 4096 : 0,
            .hole_size = has_hole ? room : 0};
        struct elf_result result;
        expect(reach > 0, "one piece fits into a file");
        expect(ftruncate(fd, 0) == 0, "an empty file");
        const enum elf_error error = elf_write(fd, history, pieces, reach, &options, &result);
        expect(elf_strerror(error) != NULL, "a text");
        expect(error != ELF_EMPTY && error != ELF_SPREAD && error != ELF_OUT_OF_ORDER,
               "pieces are as they should be");
        expect(error != ELF_HOLE, "a hole is as large as it has to be");
        if (error == ELF_OK)
            check_file(fd, &result, history->reader.swapped, has_hole);
        pieces += reach;
        count -= reach;
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    with_instant(bytes, size, write_pieces);
    return 0;
}
