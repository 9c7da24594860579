#include "eh_frame.h"

#include <stdlib.h>
#include <string.h>

/* DW_EH_PE_* */
#define PCREL_SDATA4 0x1b
#define UDATA4 0x03
#define DATAREL_SDATA4 0x3b

static void put(struct eh_frame *eh, const void *bytes, uint32_t size)
{
    if (size > EH_FRAME_MAX - eh->frame_size)
        abort();
    memcpy(eh->frame + eh->frame_size, bytes, size);
    eh->frame_size += size;
}

static void put_u32(struct eh_frame *eh, uint32_t value)
{
    put(eh, &value, sizeof(value));
}

/* Ends a CIE or FDE that begins at `start`: DW_CFA_nop up to a multiple of 8, and its length. */
static void finish_entry(struct eh_frame *eh, uint32_t start)
{
    while (eh->frame_size % 8 != 0)
        put(eh, "", 1);
    uint32_t length = eh->frame_size - start - 4;
    memcpy(eh->frame + start, &length, sizeof(length));
}

static uint32_t frame_start(const struct assembler *a)
{
    return (a->size + 7) & ~UINT32_C(7);
}

uint32_t eh_frame_end(const struct eh_frame *eh, const struct assembler *a)
{
    return frame_start(a) + eh->frame_size + EH_FRAME_HDR_SIZE;
}

void eh_frame_build(struct eh_frame *eh, const struct assembler *a)
{
    const struct unwind_convention *convention = &unwind_convention;
    eh->frame_size = 0;

    put_u32(eh, 0); /* the CIE's length, below */
    put_u32(eh, 0); /* a CIE */
    uint8_t cie[] = {1, 'z', 'R', 0, convention->code_alignment, convention->data_alignment,
                     convention->return_register, 1, PCREL_SDATA4};
    put(eh, cie, sizeof(cie));
    put(eh, convention->initial_cfi, convention->initial_cfi_size);
    finish_entry(eh, 0);

    uint32_t fde = eh->frame_size;
    uint32_t frame_at = frame_start(a);
    put_u32(eh, 0);
    put_u32(eh, eh->frame_size);               /* back to the CIE */
    put_u32(eh, 0 - (frame_at + eh->frame_size)); /* back to the code */
    put_u32(eh, a->size);
    put(eh, "", 1); /* no augmentation data */
    put(eh, a->cfi, a->cfi_size);
    finish_entry(eh, fde);
    put_u32(eh, 0); /* the terminator */

    /* The table's values are relative to the header's start. */
    uint8_t encodings[] = {1, PCREL_SDATA4, UDATA4, DATAREL_SDATA4};
    uint32_t values[] = {0 - (eh->frame_size + 4), 1, 0 - (frame_at + eh->frame_size),
                         0 - (eh->frame_size - fde)};
    memcpy(eh->header, encodings, sizeof(encodings));
    memcpy(eh->header + sizeof(encodings), values, sizeof(values));
}
