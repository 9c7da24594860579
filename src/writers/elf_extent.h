/*
 * How much code one ELF file can hold.
 */
#ifndef JITDUMP_WRITERS_ELF_EXTENT_H
#define JITDUMP_WRITERS_ELF_EXTENT_H

#include "writers/placed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a file may span, so that 256 MiB of unwinding data behind the code are in reach of the lowest
 * address. */
#define ELF_REACH UINT64_C(0x70000000)

/* How far below the end of the code a hole may begin. */
#define ELF_HOLE_REACH UINT64_C(0x7fff0000)

/* Whether a file that begins with the piece `first` can hold one that lies behind it, or itself. */
bool elf_reaches(const struct placed *first, const struct placed *piece);

/* How many of the pieces, which ascend, one file can hold from the first on: relative addresses of
 * unwinding data reach 2 GiB. 0 if there are none. */
size_t elf_reach(const struct placed *pieces, size_t count);

/* What elf_options.hole_size has to be for the pieces, at most; 0: none of them has unwinding data. */
uint64_t elf_hole_size(const struct history *history, const struct placed *pieces, size_t count);

#endif
