#include "../platform/c_library.h"

#include "frame_copy.h"

#include "../format/call_frame.h"
#include "../format/eh_frame.h"
#include "../format/elf_mach.h"

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

int jd_frame_copy(struct cfi_encoder *e, const struct jitdump_code *code, uint32_t elf_mach,
                  uint64_t code_offset, uint32_t *fde_count)
{
    struct eh_frame section;
    struct frame_fde fde;
    const unsigned char *copied_cie = NULL;
    uint64_t cie = 0, covered = 0;
    open_section(&section, code, elf_mach);
    *fde_count = 0;
    while (covered < code->code_size && jd_eh_frame_next(&section, &fde)) {
        /* Where the code and the FDE's code begin in each other: one of both is 0. */
        const uint64_t first = code->code_addr > fde.address ? code->code_addr - fde.address : 0;
        const uint64_t offset = fde.address > code->code_addr ? fde.address - code->code_addr : 0;
        if (first >= fde.size || offset >= code->code_size)
            continue;
        const uint64_t left = code->code_size - offset;
        const uint64_t size = fde.size - first < left ? fde.size - first : left;
        int error = 0;
        if (copied_cie != fde.cie.start) {
            copied_cie = fde.cie.start;
            cie = e->size;
            e->at = e->advanced_to = 0;
            error = copy_cie(e, &section, &fde);
        }
        if (error == 0)
            error = copy_fde(e, &section, &fde, cie, offset - code_offset, first, first + size);
        if (error != 0)
            return error;
        covered += size;
        ++*fde_count;
    }
    if (section.cursor.error != NULL)
        return JITDUMP_ERROR_UNWIND_SECTION;
    return *fde_count == 0 ? JITDUMP_ERROR_UNWIND_MISSING : 0;
}
