/*
 * Placed pieces of code -> one ELF file that every symboliser, debugger and profiler reads:
 * code, symbols, lines and inlined calls (DWARF 4), unwinding data, a build id.
 *
 * Layout. An address minus its file offset is the same for all that is loaded: perf computes with
 * file offsets as if they were addresses. The one PT_LOAD begins with the file's first page, which
 * holds the headers and the build id; the page of the lowest address comes next; code lies in a
 * section called .text, as perf expects it. Behind it are .eh_frame and .eh_frame_hdr, and
 * then what is not loaded. Between pieces the file has holes.
 *
 * For perf's unwinders (P33, P34) unwinding data may be where the process has nothing, and the one
 * PT_LOAD may be said to begin and to end elsewhere.
 */
#ifndef JITDUMP_WRITERS_ELF_WRITER_H
#define JITDUMP_WRITERS_ELF_WRITER_H

#include "writers/described_texts.h"
#include "writers/placed.h"

struct elf_options {
    /* ET_DYN, with addresses that count from elf_result.base. Else ET_EXEC, with the process's. */
    bool relative;
    /* Symbols in .dynsym but for one: binutils looks through .symtab for each address that perf up
     * to 6.12 asks it for. gdb then knows functions by their DWARF only. */
    bool dynsym;
    /* One symbol for pieces that follow each other and have one name: a row in perf report (P28). */
    bool merge_names;
    /* What DWARF is to call files otherwise. NULL: none. */
    const struct renamed_files *renamed;
    /* Unused addresses below the code, for the unwinding data: perf with libunwind needs these mapped, and
     * that mapping to be the lowest of the file's. elf_hole_size() says how many; a multiple of 4096. 0:
     * they lie behind the code. */
    uint64_t hole_address;
    uint64_t hole_size;
    /* The address of the file's first byte, at least ELF_FIRST_SIZE below the code, and where the PT_LOAD
     * ends, behind the code or later: what elfutils takes for the addresses of this file. 0, both: the page
     * below that of the lowest address, and the end of what is loaded. */
    uint64_t load_address;
    uint64_t load_end;
    /* What could not be read, or not used, is told here and left out, and how many of the pieces are
     * done. May be NULL. */
    const struct problems *problems;
};

struct elf_result {
    uint64_t base; /* what was taken from all addresses: 0, or the page before the lowest one's */
    /* Address minus file offset, of all that is loaded. */
    uint64_t load_address;
    /* .eh_frame and .eh_frame_hdr together, as addresses in the file; the size is 0 without. */
    uint64_t frame_address;
    uint64_t frame_size;
    uint64_t frame_offset; /* in the file */
    unsigned char build_id[DIGEST_SIZE];
    uint32_t described; /* pieces with lines */
    uint32_t unwound;   /* pieces with unwinding data that can be used */
    uint32_t refused;   /* pieces with such data that can't */
    int system_error;   /* of ELF_NOT_WRITTEN: an errno value */
};

enum elf_error {
    ELF_OK,
    ELF_NO_MEMORY,
    ELF_NOT_WRITTEN,
    ELF_EMPTY,        /* there are no pieces */
    ELF_OUT_OF_ORDER, /* pieces do not ascend, or overlap */
    ELF_HOLE,         /* the hole is too small, or out of reach */
    ELF_SPREAD,       /* pieces too far apart for one file, see elf_reach(), or not within the load */
    ELF_ADDRESS,      /* addresses that the machine does not have, or below 4096 */
    ELF_TOO_LARGE     /* a section of debug information of more than 4 GiB */
};

/* A static text for people. */
const char *elf_strerror(enum elf_error error);

/* The file's headers and its build id are not larger. */
#define ELF_FIRST_SIZE UINT64_C(512)

/* Writes the file, which must be empty. The pieces ascend and are disjoint, and all of this
 * history. After an error what is in the file is of no use. */
enum elf_error elf_write(int fd, const struct history *history, const struct placed *pieces,
                         size_t count, const struct elf_options *options,
                         struct elf_result *result);

#endif
