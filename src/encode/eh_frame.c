/*
 * The entries of .eh_frame, as the Linux Standard Base has them: a CIE with what holds at every
 * function's entry, one FDE, and a terminator of four zero bytes; or copies of others' entries.
 */
#include "../platform/c_library.h"

#include "eh_frame.h"

#include "cfi.h"
#include "frame_copy.h"
#include "struct_size.h"

#include "../format/eh_frame.h"

#include <assert.h>
#include <string.h>

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
    jd_cfi_finish_entry(e, 0);
}

/* With relative addresses, code_addr is as seen from where the bytes start. */
static int encode_eh_frame(struct cfi_encoder *e, const struct jitdump_unwind *unwind,
                           uint8_t fde_encoding, uint64_t code_addr, uint64_t code_size)
{
    encode_cie(e, fde_encoding);
    const uint64_t fde = e->size;
    cfi_emit_u32(e, 0);       /* the length */
    cfi_emit_u32(e, e->size); /* how far back the CIE is */
    if (fde_encoding == POINTER_ABSOLUTE) {
        cfi_emit(e, &code_addr, 8);
        cfi_emit(e, &code_size, 8);
    } else {
        cfi_emit_u32(e, code_addr - e->size);
        cfi_emit_u32(e, code_size);
    }
    cfi_emit_u8(e, 0); /* no augmentation data */
    const int error = jd_cfi_encode_steps(e, unwind, code_size);
    jd_cfi_finish_entry(e, fde);
    cfi_emit_u32(e, 0); /* the terminator */
    return error;
}

/* An entry of the header's table. */
struct frame_place {
    int32_t code; /* both from the header's start */
    int32_t fde;
};

static struct frame_place get_place(const unsigned char *table, uint32_t i)
{
    struct frame_place place;
    memcpy(&place, table + i * sizeof(place), sizeof(place));
    return place;
}

/* Shell's way: most tables have one entry, and most others are in order. */
static void sort_table(unsigned char *table, uint32_t count)
{
    for (uint32_t gap = count / 2; gap > 0; gap /= 2)
        for (uint32_t i = gap; i < count; i++) {
            const struct frame_place place = get_place(table, i);
            uint32_t j = i;
            for (; j >= gap && get_place(table, j - gap).code > place.code; j -= gap)
                memcpy(table + j * sizeof(place), table + (j - gap) * sizeof(place), sizeof(place));
            memcpy(table + j * sizeof(place), &place, sizeof(place));
        }
}

/* The FDEs of what is encoded up to `end`. */
static void write_table(unsigned char *table, const unsigned char *frames, uint64_t end)
{
    enum { LENGTH = 0, ID = 4, CODE = 8 };
    uint32_t length, id;
    for (uint64_t at = 0;; at += sizeof(length) + length) {
        memcpy(&length, frames + at + LENGTH, sizeof(length));
        if (length == 0)
            return;
        memcpy(&id, frames + at + ID, sizeof(id));
        if (id == 0)
            continue;
        struct frame_place place;
        memcpy(&place.code, frames + at + CODE, sizeof(place.code));
        place.code += (int32_t)(at + CODE - end);
        place.fde = (int32_t)(at - end);
        table = put(table, &place, sizeof(place));
    }
}

/* A table for binary search. */
static void encode_eh_frame_hdr(struct cfi_encoder *e, uint32_t fde_count)
{
    const uint64_t start = e->size;
    const unsigned char head[] = {1 /* version */, POINTER_PC_RELATIVE | POINTER_SDATA4,
                                  POINTER_UDATA4, POINTER_DATA_RELATIVE | POINTER_SDATA4};
    cfi_emit(e, head, sizeof(head));
    cfi_emit_u32(e, 0 - e->size); /* the eh_frame */
    cfi_emit_u32(e, fde_count);
    if (e->to != NULL) {
        write_table(e->to + e->size, e->to, start);
        sort_table(e->to + e->size, fde_count);
    }
    e->size += fde_count * sizeof(struct frame_place);
}

/* Unwinding data for the dump */

/* Both parts, of the caller's own making. */
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

/* From the section or the description; which is known to be sound. */
static int encode_for_dump(struct cfi_encoder *e, const struct jitdump_code *code,
                           const struct jitdump_unwind *unwind, uint32_t elf_mach,
                           const struct frame_index *frames, struct unwind_size *size)
{
    const uint64_t code_offset = eh_frame_offset(code->code_size);
    uint32_t fde_count = 1;
    int error;
    if (unwind != NULL) {
        error = encode_eh_frame(e, unwind, POINTER_PC_RELATIVE | POINTER_SDATA4, 0 - code_offset,
                                code->code_size);
    } else {
        error = jd_frame_copy(e, code, elf_mach, frames, code_offset, &fde_count);
        cfi_emit_u32(e, 0); /* the terminator */
    }
    if (error != 0)
        return error;
    size->eh_frame = e->size;
    encode_eh_frame_hdr(e, fde_count);
    size->eh_frame_hdr = e->size - size->eh_frame;
    return 0;
}

static bool has_own_header(const struct jitdump_code *code)
{
    return code->eh_frame_hdr != NULL || code->eh_frame_hdr_size != 0;
}

int jd_unwind_check(const struct jitdump_code *code, uint32_t elf_mach,
                    const struct frame_index *frames, struct unwind_size *size)
{
    *size = (struct unwind_size){0, 0};
    if (code->unwind != NULL && (has_own_header(code) || code->eh_frame != NULL ||
                                 code->eh_frame_size != 0))
        return JITDUMP_ERROR_UNWIND_TWICE;
    if (has_own_header(code))
        return check_bytes(code, size);

    struct jitdump_unwind copy;
    const struct jitdump_unwind *unwind = NULL;
    struct cfi_encoder e = {.machine = NULL};
    struct unwind_size encoded = {0, 0};
    int error = 0;
    if (code->unwind != NULL) {
        unwind = description_of(code, &copy);
        e.machine = jd_cfi_find_machine(elf_mach);
        error = check_description(unwind, e.machine);
    } else if (code->eh_frame == NULL || code->eh_frame_size == 0) {
        return code->eh_frame == NULL && code->eh_frame_size == 0 ? 0 : JITDUMP_ERROR_UNWIND_EMPTY;
    } else if (code->eh_frame_size > JITDUMP_CODE_SIZE_MAX) {
        return JITDUMP_ERROR_UNWIND_SIZE; /* nobody's section, but a size that is none */
    }
    if (error == 0)
        error = encode_for_dump(&e, code, unwind, elf_mach, frames, &encoded);
    /* Addresses relative to the data's end must fit into 32 bits with a sign. */
    if (error == 0 && eh_frame_offset(code->code_size) + e.size > JITDUMP_CODE_SIZE_MAX)
        error = JITDUMP_ERROR_UNWIND_SIZE;
    if (error == 0)
        *size = encoded;
    return error;
}

struct unwind_size jd_unwind_write(unsigned char *to, uint32_t elf_mach,
                                   const struct frame_index *frames,
                                   const struct jitdump_code *code)
{
    struct unwind_size size = {code->eh_frame_size, code->eh_frame_hdr_size};
    if (has_own_header(code)) {
        to = put(to, code->eh_frame, (size_t)size.eh_frame);
        put(to, code->eh_frame_hdr, (size_t)size.eh_frame_hdr);
        return size;
    }
    struct jitdump_unwind copy;
    struct cfi_encoder e = {.machine = jd_cfi_find_machine(elf_mach), .to = to};
    const int error = encode_for_dump(
        &e, code, code->unwind != NULL ? description_of(code, &copy) : NULL, elf_mach, frames, &size);
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
        error = encode_eh_frame(&e, unwind, POINTER_ABSOLUTE, code->code_addr, code->code_size);
    if (error == 0 && e.size > JITDUMP_CODE_SIZE_MAX)
        error = JITDUMP_ERROR_UNWIND_SIZE;
    *size = error == 0 ? e.size : 0;
    return error;
}
