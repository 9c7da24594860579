/*
 * The frames of a piece of code out of an .eh_frame that somebody else made, for any number of
 * functions and at any address: each FDE that says something of the code, cut to it, and its CIE,
 * made anew with what unwinding needs of them.
 */
#ifndef JITDUMP_FRAME_COPY_H
#define JITDUMP_FRAME_COPY_H

#include "cfi.h"

#pragma GCC visibility push(hidden)

/* The FDEs of one section in the order of their addresses, for who looks for many. */
struct frame_index {
    const void *eh_frame; /* NULL: of none */
    uint64_t eh_frame_size;
    uint64_t eh_frame_addr;
    uint64_t count;
    struct frame_index_entry *entries;
};

#define FRAME_INDEX_NONE ((struct frame_index){.eh_frame = NULL})

bool jd_frame_index_is_of(const struct frame_index *index, const struct jitdump_code *code);

/* In place of what it was of before. Where that can't be done, for want of memory or because the
 * section is no sound one, it is an index of nothing that says so, and the section itself is read. */
void jd_frame_index_make(struct frame_index *index, const struct jitdump_code *code,
                         uint32_t elf_mach);
void jd_frame_index_free(struct frame_index *index);

/* Emits CIEs and FDEs; what they are relative to is as far behind the code's start as `code_offset`
 * says, and e->size is 0. Without a `machine` in the encoder. `fde_count` receives how many there
 * are, at least one, or the result is an error. `index` may be NULL, or that of another section. */
int jd_frame_copy(struct cfi_encoder *e, const struct jitdump_code *code, uint32_t elf_mach,
                  const struct frame_index *index, uint64_t code_offset, uint32_t *fde_count);

#pragma GCC visibility pop

#endif
