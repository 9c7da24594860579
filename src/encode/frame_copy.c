#include "../platform/c_library.h"

#include "frame_copy.h"

#include "../format/call_frame.h"
#include "../format/eh_frame.h"
#include "../format/elf_mach.h"

#include <stdlib.h>

/* The section that a code's frames are in. */
static void open_section(struct eh_frame *section, const struct jitdump_code *code,
                         uint32_t elf_mach)
{
    const struct span bytes = {code->eh_frame, code->eh_frame_size};
    const uint64_t address =
        code->eh_frame_addr != 0 ? code->eh_frame_addr : (uint64_t)(uintptr_t)code->eh_frame;
    jd_eh_frame_init(section, bytes, bytes.data, false, address,
                     elf_mach_address_size(elf_mach));
}

/* Instructions */

/* Where an instruction that moves on leads to, as an offset in the FDE's code. */
static uint64_t location_behind(const struct eh_frame *section, struct cursor *cursor,
                                const struct call_frame_instruction *instruction,
                                const struct frame_fde *fde, uint64_t location)
{
    static const char descends[] = "locations descend";
    uint64_t next;
    if (instruction->opcode == CALL_FRAME_SET_LOC)
        next = jd_eh_frame_pointer(section, cursor, fde->cie.pointer_encoding) - fde->address;
    else if (__builtin_mul_overflow(instruction->distance, fde->cie.code_alignment, &next) ||
             __builtin_add_overflow(location, next, &next))
        next = UINT64_MAX; /* behind all code */
    if (next < location)
        cursor_fail(cursor, descends);
    return next;
}

/* Those that hold somewhere from `first` to `last` of the FDE's code. What holds at `first` already
 * takes no advance; the distances are written anew, in bytes. */
static int copy_instructions(struct cfi_encoder *e, const struct eh_frame *section,
                             const struct frame_fde *fde, struct span instructions, uint64_t first,
                             uint64_t last)
{
    struct cursor cursor = section->cursor;
    cursor.at = instructions.data;
    cursor.end = instructions.data + instructions.size;
    cursor.error = NULL;
    struct call_frame_instruction instruction;
    uint64_t location = 0, remembered = 0;
    while (jd_call_frame_next(&cursor, &instruction)) {
        if (instruction.advances || instruction.opcode == CALL_FRAME_SET_LOC) {
            location = location_behind(section, &cursor, &instruction, fde, location);
            if (location >= last)
                break;
            continue;
        }
        if (instruction.opcode == CALL_FRAME_NOP)
            continue;
        if (instruction.opcode == CALL_FRAME_REMEMBER_STATE)
            remembered++;
        if (instruction.opcode == CALL_FRAME_RESTORE_STATE && remembered-- == 0)
            return JITDUMP_ERROR_UNWIND_SECTION;
        e->at = location > first ? location - first : 0;
        jd_cfi_emit_advance(e);
        cfi_emit(e, instruction.bytes.data, (size_t)instruction.bytes.size);
    }
    return cursor.error != NULL ? JITDUMP_ERROR_UNWIND_SECTION : 0;
}

/* CIEs and FDEs */

/* What only exceptions need, personality and LSDA, leads out of the section and is left out. */
static int copy_cie(struct cfi_encoder *e, const struct eh_frame *section,
                    const struct frame_fde *fde)
{
    const struct frame_cie *cie = &fde->cie;
    const uint8_t version = cie->return_address_register <= UINT8_MAX ? 1 : 3;
    const uint64_t start = e->size;
    cfi_emit_u32(e, 0); /* the length */
    cfi_emit_u32(e, 0); /* a CIE, and no FDE */
    cfi_emit_u8(e, version);
    cfi_emit(e, "zR", 2);
    if (cie->signal_frame)
        cfi_emit_u8(e, 'S');
    if (cie->b_key)
        cfi_emit_u8(e, 'B');
    cfi_emit_u8(e, 0);
    cfi_emit_u8(e, 1); /* code alignment factor */
    jd_cfi_emit_sleb128(e, cie->data_alignment);
    if (version == 1)
        cfi_emit_u8(e, cie->return_address_register);
    else
        jd_cfi_emit_uleb128(e, cie->return_address_register);
    cfi_emit_u8(e, 1); /* the size of the augmentation's data */
    cfi_emit_u8(e, POINTER_PC_RELATIVE | POINTER_SDATA4);
    const int error = copy_instructions(e, section, fde, cie->instructions, 0, 1);
    jd_cfi_finish_entry(e, start);
    return error;
}

/* Cut to code from `first` to `last` of its own, whose first byte is at `code`, seen from e->size 0. */
static int copy_fde(struct cfi_encoder *e, const struct eh_frame *section,
                    const struct frame_fde *fde, uint64_t cie, uint64_t code, uint64_t first,
                    uint64_t last)
{
    const uint64_t start = e->size;
    cfi_emit_u32(e, 0);             /* the length */
    cfi_emit_u32(e, e->size - cie); /* how far back the CIE is */
    cfi_emit_u32(e, code - e->size);
    cfi_emit_u32(e, last - first);
    cfi_emit_u8(e, 0); /* no augmentation data */
    e->advanced_to = 0;
    const int error = copy_instructions(e, section, fde, fde->instructions, first, last);
    jd_cfi_finish_entry(e, start);
    return error;
}

struct copier {
    struct cfi_encoder *e;
    const struct jitdump_code *code;
    struct eh_frame section;
    uint64_t code_offset;
    /* The CIE that was copied last, there and here. */
    const unsigned char *section_cie;
    uint64_t cie;
    uint64_t covered; /* how much of the code has frames */
    uint32_t fde_count;
};

static int copy_one(struct copier *copier, const struct frame_fde *fde)
{
    struct cfi_encoder *e = copier->e;
    const struct jitdump_code *code = copier->code;
    /* Where the code and the FDE's code begin in each other: one of both is 0. */
    const uint64_t first = code->code_addr > fde->address ? code->code_addr - fde->address : 0;
    const uint64_t offset = fde->address > code->code_addr ? fde->address - code->code_addr : 0;
    if (first >= fde->size || offset >= code->code_size)
        return 0;
    const uint64_t left = code->code_size - offset;
    const uint64_t size = fde->size - first < left ? fde->size - first : left;
    int error = 0;
    if (copier->section_cie != fde->cie.start) {
        copier->section_cie = fde->cie.start;
        copier->cie = e->size;
        e->at = e->advanced_to = 0;
        error = copy_cie(e, &copier->section, fde);
    }
    if (error == 0)
        error = copy_fde(e, &copier->section, fde, copier->cie, offset - copier->code_offset, first,
                         first + size);
    copier->covered += size;
    copier->fde_count++;
    return error;
}

/* All that come, up to those that cover the code. */
static int copy_in_order(struct copier *copier)
{
    struct frame_fde fde;
    int error = 0;
    while (error == 0 && copier->covered < copier->code->code_size &&
           jd_eh_frame_next(&copier->section, &fde))
        error = copy_one(copier, &fde);
    return copier->section.cursor.error != NULL ? JITDUMP_ERROR_UNWIND_SECTION : error;
}

/* Index */

struct frame_index_entry {
    uint64_t address;
    uint64_t end;
    const unsigned char *at;
};

static int compare_entries(const void *one, const void *other)
{
    const uint64_t a = ((const struct frame_index_entry *)one)->address;
    const uint64_t b = ((const struct frame_index_entry *)other)->address;
    return (a > b) - (a < b);
}

/* Sets the entries if there is memory for them; and how many there are. False: the section can't be
 * read, or has code at the end of the address space. */
static bool list_entries(struct frame_index *index, const struct jitdump_code *code,
                         uint32_t elf_mach)
{
    struct eh_frame section;
    struct frame_fde fde;
    open_section(&section, code, elf_mach);
    index->count = 0;
    for (const unsigned char *at = section.start; jd_eh_frame_next(&section, &fde);
         at = section.cursor.at) {
        if (fde.address > UINT64_MAX - fde.size)
            return false;
        if (index->entries != NULL)
            index->entries[index->count] =
                (struct frame_index_entry){fde.address, fde.address + fde.size, at};
        index->count++;
    }
    return section.cursor.error == NULL;
}

/* No FDEs of code that others have too: then all that begin before an address end before it. */
static bool are_apart(const struct frame_index *index)
{
    for (uint64_t i = 1; i < index->count; i++)
        if (index->entries[i].address < index->entries[i - 1].end)
            return false;
    return true;
}

bool jd_frame_index_is_of(const struct frame_index *index, const struct jitdump_code *code)
{
    return index != NULL && code->eh_frame != NULL && index->eh_frame == code->eh_frame &&
           index->eh_frame_size == code->eh_frame_size &&
           index->eh_frame_addr == code->eh_frame_addr;
}

void jd_frame_index_make(struct frame_index *index, const struct jitdump_code *code,
                         uint32_t elf_mach)
{
    jd_frame_index_free(index);
    index->eh_frame = code->eh_frame;
    index->eh_frame_size = code->eh_frame_size;
    index->eh_frame_addr = code->eh_frame_addr;
    if (!list_entries(index, code, elf_mach) || index->count == 0 ||
        index->count > SIZE_MAX / sizeof(index->entries[0]))
        return;
    index->entries = malloc((size_t)index->count * sizeof(index->entries[0]));
    if (index->entries == NULL)
        return;
    list_entries(index, code, elf_mach);
    qsort(index->entries, (size_t)index->count, sizeof(index->entries[0]), compare_entries);
    if (!are_apart(index)) {
        free(index->entries);
        index->entries = NULL;
    }
}

void jd_frame_index_free(struct frame_index *index)
{
    free(index->entries);
    *index = FRAME_INDEX_NONE;
}

static int copy_by_index(struct copier *copier, const struct frame_index *index)
{
    /* The first that ends behind the code's beginning. */
    uint64_t low = 0, high = index->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (index->entries[middle].end > copier->code->code_addr)
            high = middle;
        else
            low = middle + 1;
    }
    const uint64_t end = copier->code->code_addr + copier->code->code_size;
    int error = 0;
    for (; error == 0 && low < index->count && index->entries[low].address < end; low++) {
        struct frame_fde fde;
        copier->section.cursor.at = index->entries[low].at;
        if (!jd_eh_frame_next(&copier->section, &fde))
            return JITDUMP_ERROR_UNWIND_SECTION;
        error = copy_one(copier, &fde);
    }
    return error;
}

int jd_frame_copy(struct cfi_encoder *e, const struct jitdump_code *code, uint32_t elf_mach,
                  const struct frame_index *index, uint64_t code_offset, uint32_t *fde_count)
{
    struct copier copier = {.e = e, .code = code, .code_offset = code_offset};
    open_section(&copier.section, code, elf_mach);
    const bool indexed = jd_frame_index_is_of(index, code) && index->entries != NULL;
    const int error = indexed ? copy_by_index(&copier, index) : copy_in_order(&copier);
    *fde_count = copier.fde_count;
    if (error != 0)
        return error;
    return copier.fde_count == 0 ? JITDUMP_ERROR_UNWIND_MISSING : 0;
}
