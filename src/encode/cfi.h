/*
 * Call frame instructions (DWARF 5, section 6.4.2): the steps of a description into bytes.
 *
 * One walk over the steps checks them and encodes them. With nowhere to write to, it only
 * counts: so the size that is reserved is the size that is written.
 */
#ifndef JITDUMP_CFI_H
#define JITDUMP_CFI_H

#include "../format/put.h"

#include "jitdump.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Saved registers lie at multiples of this. */
#define CFI_WORD 8

struct cfi_machine {
    uint32_t elf_mach;
    uint8_t stack_pointer;
    uint8_t frame_pointer;
    uint8_t return_address;
    /* The call instruction has pushed the return address; else it is in its register. */
    bool return_address_on_stack;
    uint8_t first_general; /* registers that can hold addresses */
    uint8_t last_general;
    uint8_t first_float; /* 0: none that unwinders know */
    uint8_t last_float;
    /* CFA - frame pointer, where it is set. */
    uint8_t frame_pointer_offset;
    /* JITDUMP_FRAME_POINTER: where the prologue's two states begin, from the code's start, and
     * the epilogue's, back from its end. */
    uint8_t prologue_allocated;
    uint8_t prologue_set;
    uint8_t epilogue_allocated; /* as epilogue_none: one instruction undoes all */
    uint8_t epilogue_none;
};

/* NULL: none that is known here. */
const struct cfi_machine *jd_cfi_find_machine(uint32_t elf_mach);

struct register_set {
    uint64_t words[2]; /* register r is bit r % 64 of word r / 64 */
};

struct cfi_encoder {
    const struct cfi_machine *machine;
    unsigned char *to; /* NULL: only count */
    uint64_t size;

    /* The code offset of the step, and that which the bytes so far have advanced to. */
    uint64_t at;
    uint64_t advanced_to;
    /* What holds there, to leave out what changes nothing. After a restored state, cfa_known is
     * false and `saved` has each register that might be. */
    bool cfa_known;
    uint64_t cfa_register;
    uint64_t cfa_offset;
    struct register_set saved;
    struct register_set ever_saved;
    uint64_t remembered;
};

/* Inline, for the sizes are constants. */
static inline void cfi_emit(struct cfi_encoder *e, const void *bytes, size_t size)
{
    if (e->to != NULL)
        put(e->to + e->size, bytes, size);
    e->size += size;
}

static inline void cfi_emit_u8(struct cfi_encoder *e, uint64_t value)
{
    cfi_emit(e, &(uint8_t){(uint8_t)value}, 1);
}

static inline void cfi_emit_u32(struct cfi_encoder *e, uint64_t value)
{
    cfi_emit(e, &(uint32_t){(uint32_t)value}, 4);
}

void jd_cfi_emit_uleb128(struct cfi_encoder *e, uint64_t value);
void jd_cfi_emit_sleb128(struct cfi_encoder *e, int64_t value);

/* The instruction that follows holds from e->at on. */
void jd_cfi_emit_advance(struct cfi_encoder *e);

/* Ends the CIE or FDE that starts at `start`: it is a multiple of 4 long, and its length field counts
 * what is behind itself. */
void jd_cfi_finish_entry(struct cfi_encoder *e, uint64_t start);

/* What holds at every function's entry. */
void jd_cfi_encode_entry(struct cfi_encoder *e);

/* Of a description whose frame, steps and step_count are sound. The error is the first step's
 * that has one. */
int jd_cfi_encode_steps(struct cfi_encoder *e, const struct jitdump_unwind *unwind,
                        uint64_t code_size);

#pragma GCC visibility pop

#endif
