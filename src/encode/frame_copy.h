/*
 * The frames of a piece of code out of an .eh_frame that somebody else made, for any number of
 * functions and at any address: each FDE that says something of the code, cut to it, and its CIE,
 * made anew with what unwinding needs of them.
 */
#ifndef JITDUMP_FRAME_COPY_H
#define JITDUMP_FRAME_COPY_H

#include "cfi.h"

#pragma GCC visibility push(hidden)

/* Emits CIEs and FDEs; what they are relative to is as far behind the code's start as `code_offset`
 * says, and e->size is 0. Without a `machine` in the encoder. `fde_count` receives how many there
 * are, at least one, or the result is an error. */
int jd_frame_copy(struct cfi_encoder *e, const struct jitdump_code *code, uint32_t elf_mach,
                  uint64_t code_offset, uint32_t *fde_count);

#pragma GCC visibility pop

#endif
