/*
 * The entries of .eh_frame, as the Linux Standard Base has them: a CIE with what holds at every
 * function's entry, one FDE, and a terminator of four zero bytes.
 */
#include "../platform/c_library.h"

#include "eh_frame.h"

#include "cfi.h"
#include "struct_size.h"

#include <assert.h>

enum {
    DW_EH_PE_absptr = 0x00,
    DW_EH_PE_pcrel_sdata4 = 0x1b,
    DW_EH_PE_udata4 = 0x03,
    DW_EH_PE_datarel_sdata4 = 0x3b
};

/* A CIE or FDE is a multiple of 4 long, and its length field counts what is behind itself. */
static void finish_entry(struct cfi_encoder *e, uint64_t start)
{
    static const unsigned char nops[3] = {0}; /* DW_CFA_nop */
    cfi_emit(e, nops, -e->size % 4);
    const uint32_t length = (uint32_t)(e->size - start - sizeof(length));
    if (e->to != NULL)
        put(e->to + start, &length, sizeof(length));
}

static void encode_cie(struct cfi_encoder *e, uint8_t fde_encoding)
{
    const unsigned char head[] = {0, 0, 0, 0,      /* the length */
                                  0, 0, 0, 0,      /* a CIE, and no FDE */
                                  1,               /* version */
                                  'z', 'R', 0,     /* augmentation: its data is in the last two */
                                  1,               /* code alignment factor */
                                  0x80 - CFI_WORD, /* data alignment factor, in SLEB128 */
                                  e->machine->return_address,
                                  1, /* the size of the augmentation's data */
                                  fde_encoding};
    cfi_emit(e, head, sizeof(head));
    jd_cfi_encode_entry(e);
    finish_entry(e, 0);
}

/* With relative addresses, code_addr is as seen from where the bytes start. */
static int encode_eh_frame(struct cfi_encoder *e, const struct jitdump_unwind *unwind,
                           uint8_t fde_encoding, uint64_t code_addr, uint64_t code_size)
{
    encode_cie(e, fde_encoding);
    e->fde = e->size;
    cfi_emit_u32(e, 0);       /* the length */
    cfi_emit_u32(e, e->size); /* how far back the CIE is */
    if (fde_encoding == DW_EH_PE_absptr) {
        cfi_emit(e, &code_addr, 8);
        cfi_emit(e, &code_size, 8);
    } else {
        cfi_emit_u32(e, code_addr - e->size);
        cfi_emit_u32(e, code_size);
    }
    cfi_emit_u8(e, 0); /* no augmentation data */
    const int error = jd_cfi_encode_steps(e, unwind, code_size);
    finish_entry(e, e->fde);
    cfi_emit_u32(e, 0); /* the terminator */
    return error;
}

/* A binary search table of one entry, whose values are relative to the header's start. */
static void encode_eh_frame_hdr(struct cfi_encoder *e, uint64_t code_size)
{
    const uint64_t start = e->size;
    const unsigned char head[] = {1 /* version */, DW_EH_PE_pcrel_sdata4, DW_EH_PE_udata4,
                                  DW_EH_PE_datarel_sdata4};
    cfi_emit(e, head, sizeof(head));
    cfi_emit_u32(e, 0 - e->size); /* the eh_frame */
    cfi_emit_u32(e, 1);           /* the count */
    cfi_emit_u32(e, 0 - eh_frame_offset(code_size) - start);
    cfi_emit_u32(e, e->fde - start);
}

/* Unwinding data for the dump */

static int check_bytes(const struct jitdump_code *code, struct unwind_size *size)
{
    if (code->eh_frame == NULL || code->eh_frame_size == 0 || code->eh_frame_hdr == NULL ||
        code->eh_frame_hdr_size == 0)
        return JITDUMP_ERROR_UNWIND_EMPTY;
    if (code->eh_frame_hdr_size > code->eh_frame_size)
        return JITDUMP_ERROR_UNWIND_HEADER_SIZE;
    /* The first comparison keeps the sum from wrapping. */
    if (code->eh_frame_size > JITDUMP_CODE_SIZE_MAX ||
        code->eh_frame_size + code->eh_frame_hdr_size > JITDUMP_CODE_SIZE_MAX)
        return JITDUMP_ERROR_UNWIND_SIZE;
    *size = (struct unwind_size){code->eh_frame_size, code->eh_frame_hdr_size};
    return 0;
}

/* The code's description as this version knows it; `copy` is the memory for one that is shorter.
 * NULL: its size is unsound. */
static const struct jitdump_unwind *description_of(const struct jitdump_code *code,
                                                   struct jitdump_unwind *copy)
{
    return struct_known(code->unwind, copy, sizeof(*copy), UNWIND_SIZE_MIN);
}

/* What is looked at before the steps. */
static int check_description(const struct jitdump_unwind *unwind,
                             const struct cfi_machine *machine)
{
    if (unwind == NULL)
        return JITDUMP_ERROR_STRUCT_SIZE;
    if (machine == NULL)
        return JITDUMP_ERROR_UNWIND_MACHINE;
    if (unwind->frame > JITDUMP_FRAME_POINTER)
        return JITDUMP_ERROR_UNWIND_FRAME;
    if (unwind->step_count != 0 && unwind->steps == NULL)
        return JITDUMP_ERROR_UNWIND_STEPS_MISSING;
    return 0;
}

static int encode_for_dump(struct cfi_encoder *e, const struct jitdump_unwind *unwind,
                           uint64_t code_size, struct unwind_size *size)
{
    const int error = encode_eh_frame(e, unwind, DW_EH_PE_pcrel_sdata4,
                                      0 - eh_frame_offset(code_size), code_size);
    size->eh_frame = e->size;
    encode_eh_frame_hdr(e, code_size);
    size->eh_frame_hdr = e->size - size->eh_frame;
    return error;
}

int jd_unwind_check(const struct jitdump_code *code, uint32_t elf_mach, struct unwind_size *size)
{
    *size = (struct unwind_size){0, 0};
    const bool has_bytes = code->eh_frame != NULL || code->eh_frame_size != 0 ||
                           code->eh_frame_hdr != NULL || code->eh_frame_hdr_size != 0;
    if (code->unwind == NULL)
        return has_bytes ? check_bytes(code, size) : 0;
    if (has_bytes)
        return JITDUMP_ERROR_UNWIND_TWICE;

    struct jitdump_unwind copy;
    const struct jitdump_unwind *unwind = description_of(code, &copy);
    struct cfi_encoder e = {.machine = jd_cfi_find_machine(elf_mach)};
    struct unwind_size encoded = {0, 0};
    int error = check_description(unwind, e.machine);
    if (error == 0)
        error = encode_for_dump(&e, unwind, code->code_size, &encoded);
    /* Addresses relative to the data's end must fit into 32 bits with a sign. */
    if (error == 0 && eh_frame_offset(code->code_size) + e.size > JITDUMP_CODE_SIZE_MAX)
        error = JITDUMP_ERROR_UNWIND_SIZE;
    if (error == 0)
        *size = encoded;
    return error;
}

struct unwind_size jd_unwind_write(unsigned char *to, uint32_t elf_mach,
                                   const struct jitdump_code *code)
{
    struct unwind_size size = {code->eh_frame_size, code->eh_frame_hdr_size};
    if (code->unwind == NULL) {
        to = put(to, code->eh_frame, (size_t)size.eh_frame);
        put(to, code->eh_frame_hdr, (size_t)size.eh_frame_hdr);
        return size;
    }
    struct jitdump_unwind copy;
    struct cfi_encoder e = {.machine = jd_cfi_find_machine(elf_mach), .to = to};
    const int error =
        encode_for_dump(&e, description_of(code, &copy), code->code_size, &size);
    assert(error == 0);
    (void)error;
    return size;
}

/* An .eh_frame for this process */

int jd_eh_frame_absolute(const struct jitdump_code *code, uint32_t elf_mach, unsigned char *to,
                         uint64_t *size)
{
    struct jitdump_unwind copy;
    const struct jitdump_unwind *unwind = description_of(code, &copy);
    struct cfi_encoder e = {.machine = jd_cfi_find_machine(elf_mach), .to = to};
    int error = check_description(unwind, e.machine);
    if (error == 0)
        error = encode_eh_frame(&e, unwind, DW_EH_PE_absptr, code->code_addr, code->code_size);
    if (error == 0 && e.size > JITDUMP_CODE_SIZE_MAX)
        error = JITDUMP_ERROR_UNWIND_SIZE;
    *size = error == 0 ? e.size : 0;
    return error;
}
