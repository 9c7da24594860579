#include "../platform/c_library.h"

#include "cfi.h"

#include "../format/elf_mach.h"

enum {
    DW_CFA_advance_loc = 0x40, /* the offset is in the low six bits */
    DW_CFA_offset = 0x80,      /* the register is in the low six bits */
    DW_CFA_restore = 0xc0,     /* the same */
    DW_CFA_advance_loc1 = 0x02,
    DW_CFA_advance_loc2 = 0x03,
    DW_CFA_advance_loc4 = 0x04,
    DW_CFA_offset_extended = 0x05,
    DW_CFA_restore_extended = 0x06,
    DW_CFA_remember_state = 0x0a,
    DW_CFA_restore_state = 0x0b,
    DW_CFA_def_cfa = 0x0c,
    DW_CFA_def_cfa_register = 0x0d,
    DW_CFA_def_cfa_offset = 0x0e
};

/* All three machines keep frame pointer and return address in the two words below the CFA. */
#define FRAME_SIZE (2 * CFI_WORD)

static const struct cfi_machine machines[] = {
    {.elf_mach = ELF_MACH_X86_64,
     .stack_pointer = JITDUMP_X86_64_RSP,
     .frame_pointer = JITDUMP_X86_64_RBP,
     .return_address = JITDUMP_X86_64_RA,
     .return_address_on_stack = true,
     .last_general = JITDUMP_X86_64_R15,
     .frame_pointer_offset = FRAME_SIZE,
     .prologue_allocated = 1,
     .prologue_set = 4,
     .epilogue_allocated = 1,
     .epilogue_none = 1},
    {.elf_mach = ELF_MACH_AARCH64,
     .stack_pointer = JITDUMP_AARCH64_SP,
     .frame_pointer = JITDUMP_AARCH64_X29,
     .return_address = JITDUMP_AARCH64_X30,
     .last_general = JITDUMP_AARCH64_SP,
     .first_float = JITDUMP_AARCH64_V0,
     .last_float = JITDUMP_AARCH64_V0 + 31,
     .frame_pointer_offset = FRAME_SIZE,
     .prologue_allocated = 4,
     .prologue_set = 8,
     .epilogue_allocated = 4,
     .epilogue_none = 4},
    {.elf_mach = ELF_MACH_RISCV,
     .stack_pointer = JITDUMP_RISCV64_SP,
     .frame_pointer = JITDUMP_RISCV64_S0,
     .return_address = JITDUMP_RISCV64_RA,
     .first_general = JITDUMP_RISCV64_RA, /* x0 is always 0 */
     .last_general = 31,
     .first_float = JITDUMP_RISCV64_F0,
     .last_float = JITDUMP_RISCV64_F0 + 31,
     .frame_pointer_offset = 0,
     .prologue_allocated = 4,
     .prologue_set = 16,
     .epilogue_allocated = 8,
     .epilogue_none = 4},
};

const struct cfi_machine *jd_cfi_find_machine(uint32_t elf_mach)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        if (machines[i].elf_mach == elf_mach)
            return &machines[i];
    return NULL;
}

static bool is_general(const struct cfi_machine *machine, uint32_t reg)
{
    return reg >= machine->first_general && reg <= machine->last_general;
}

/* Unwinders give up at a number that they do not know: only those that all of them do. */
static bool is_register(const struct cfi_machine *machine, uint32_t reg)
{
    return is_general(machine, reg) || reg == machine->return_address ||
           (machine->first_float != 0 && reg >= machine->first_float && reg <= machine->last_float);
}

/* Bytes */

void jd_cfi_emit_uleb128(struct cfi_encoder *e, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        cfi_emit_u8(e, (value & 0x7f) | 0x80);
    cfi_emit_u8(e, value);
}

void jd_cfi_emit_sleb128(struct cfi_encoder *e, int64_t value)
{
    /* Divided towards minus infinity; the last byte's 0x40 is the sign. */
    for (; value < -0x40 || value >= 0x40; value = (value - (value & 0x7f)) / 0x80)
        cfi_emit_u8(e, ((uint64_t)value & 0x7f) | 0x80);
    cfi_emit_u8(e, (uint64_t)value & 0x7f);
}

void jd_cfi_finish_entry(struct cfi_encoder *e, uint64_t start)
{
    static const unsigned char nops[3] = {0}; /* DW_CFA_nop */
    cfi_emit(e, nops, -e->size % 4);
    const uint32_t length = (uint32_t)(e->size - start - sizeof(length));
    if (e->to != NULL)
        put(e->to + start, &length, sizeof(length));
}

/* Instructions */

void jd_cfi_emit_advance(struct cfi_encoder *e)
{
    const uint64_t delta = e->at - e->advanced_to;
    if (delta == 0)
        return;
    if (delta < 0x40) {
        cfi_emit_u8(e, DW_CFA_advance_loc | delta);
    } else if (delta <= UINT8_MAX) {
        cfi_emit_u8(e, DW_CFA_advance_loc1);
        cfi_emit_u8(e, delta);
    } else if (delta <= UINT16_MAX) {
        cfi_emit_u8(e, DW_CFA_advance_loc2);
        cfi_emit(e, &(uint16_t){(uint16_t)delta}, 2);
    } else {
        cfi_emit_u8(e, DW_CFA_advance_loc4);
        cfi_emit_u32(e, delta);
    }
    e->advanced_to = e->at;
}

static void define_cfa(struct cfi_encoder *e, uint64_t reg, uint64_t offset)
{
    const bool same_register = e->cfa_known && e->cfa_register == reg;
    const bool same_offset = e->cfa_known && e->cfa_offset == offset;
    if (same_register && same_offset)
        return;
    jd_cfi_emit_advance(e);
    cfi_emit_u8(e, same_register ? DW_CFA_def_cfa_offset
                             : same_offset ? DW_CFA_def_cfa_register : DW_CFA_def_cfa);
    if (!same_register)
        jd_cfi_emit_uleb128(e, reg);
    if (!same_offset)
        jd_cfi_emit_uleb128(e, offset);
    e->cfa_known = true;
    e->cfa_register = reg;
    e->cfa_offset = offset;
}

/* One of the two forms of an instruction: the short one has the register in its low six bits. */
static void emit_register(struct cfi_encoder *e, uint64_t short_form, uint64_t extended,
                          uint64_t reg)
{
    jd_cfi_emit_advance(e);
    if (reg < 0x40) {
        cfi_emit_u8(e, short_form | reg);
    } else {
        cfi_emit_u8(e, extended);
        jd_cfi_emit_uleb128(e, reg);
    }
}

/* The caller's `reg` is at CFA - below. */
static void emit_offset(struct cfi_encoder *e, uint64_t reg, uint64_t below)
{
    emit_register(e, DW_CFA_offset, DW_CFA_offset_extended, reg);
    jd_cfi_emit_uleb128(e, below / CFI_WORD);
}

static void save_register(struct cfi_encoder *e, uint64_t reg, uint64_t below)
{
    emit_offset(e, reg, below);
    const uint64_t bit = UINT64_C(1) << reg % 64;
    e->saved.words[reg / 64] |= bit;
    e->ever_saved.words[reg / 64] |= bit;
}

static void restore_register(struct cfi_encoder *e, uint64_t reg)
{
    const uint64_t bit = UINT64_C(1) << reg % 64;
    if ((e->saved.words[reg / 64] & bit) != 0)
        emit_register(e, DW_CFA_restore, DW_CFA_restore_extended, reg);
    e->saved.words[reg / 64] &= ~bit;
}

static void restore_state(struct cfi_encoder *e)
{
    jd_cfi_emit_advance(e);
    cfi_emit_u8(e, DW_CFA_restore_state);
    e->remembered--;
    e->cfa_known = false;
    e->saved = e->ever_saved;
}

/* The three states of the standard frame */

static uint64_t entry_cfa_offset(const struct cfi_machine *machine)
{
    return machine->return_address_on_stack ? CFI_WORD : 0;
}

static void frame_none(struct cfi_encoder *e)
{
    define_cfa(e, e->machine->stack_pointer, entry_cfa_offset(e->machine));
    for (uint64_t word = 0; word < 2; word++)
        for (uint64_t reg = word * 64; e->saved.words[word] != 0; reg++)
            restore_register(e, reg);
}

static void frame_allocated(struct cfi_encoder *e)
{
    define_cfa(e, e->machine->stack_pointer, FRAME_SIZE);
    restore_register(e, e->machine->frame_pointer);
    restore_register(e, e->machine->return_address);
}

static void frame_set(struct cfi_encoder *e)
{
    define_cfa(e, e->machine->frame_pointer, e->machine->frame_pointer_offset);
    save_register(e, e->machine->frame_pointer, FRAME_SIZE);
    if (e->machine->return_address_on_stack)
        restore_register(e, e->machine->return_address);
    else
        save_register(e, e->machine->return_address, CFI_WORD);
}

void jd_cfi_encode_entry(struct cfi_encoder *e)
{
    define_cfa(e, e->machine->stack_pointer, entry_cfa_offset(e->machine));
    if (e->machine->return_address_on_stack)
        emit_offset(e, e->machine->return_address, CFI_WORD);
}

/* Steps */

static int encode_step(struct cfi_encoder *e, const struct jitdump_unwind_step *step)
{
    if (step->code_offset < e->at)
        return JITDUMP_ERROR_UNWIND_STEP_ORDER;
    e->at = step->code_offset;

    switch (step->op) {
    case JITDUMP_UNWIND_DEF_CFA:
        if (!is_general(e->machine, step->reg))
            return JITDUMP_ERROR_UNWIND_STEP_REGISTER;
        if (step->offset < 0 || step->offset > INT32_MAX)
            return JITDUMP_ERROR_UNWIND_STEP_OFFSET;
        define_cfa(e, step->reg, (uint64_t)step->offset);
        return 0;
    case JITDUMP_UNWIND_OFFSET:
        if (!is_register(e->machine, step->reg))
            return JITDUMP_ERROR_UNWIND_STEP_REGISTER;
        if (step->offset >= 0 || step->offset < INT32_MIN || step->offset % CFI_WORD != 0)
            return JITDUMP_ERROR_UNWIND_STEP_OFFSET;
        save_register(e, step->reg, (uint64_t)-step->offset);
        return 0;
    case JITDUMP_UNWIND_RESTORE:
        if (!is_register(e->machine, step->reg))
            return JITDUMP_ERROR_UNWIND_STEP_REGISTER;
        restore_register(e, step->reg);
        return 0;
    case JITDUMP_UNWIND_REMEMBER_STATE:
        jd_cfi_emit_advance(e);
        cfi_emit_u8(e, DW_CFA_remember_state);
        e->remembered++;
        return 0;
    case JITDUMP_UNWIND_RESTORE_STATE:
        if (e->remembered == 0)
            return JITDUMP_ERROR_UNWIND_STEP_STATE;
        restore_state(e);
        return 0;
    case JITDUMP_UNWIND_FRAME_NONE:
        frame_none(e);
        return 0;
    case JITDUMP_UNWIND_FRAME_ALLOCATED:
        frame_allocated(e);
        return 0;
    case JITDUMP_UNWIND_FRAME_SET:
        frame_set(e);
        return 0;
    default:
        return JITDUMP_ERROR_UNWIND_STEP_OP;
    }
}

int jd_cfi_encode_steps(struct cfi_encoder *e, const struct jitdump_unwind *unwind,
                        uint64_t code_size)
{
    const struct cfi_machine *machine = e->machine;
    const bool standard = unwind->frame == JITDUMP_FRAME_POINTER;
    uint64_t first = 0;
    uint64_t last = code_size;
    if (standard) {
        if (code_size < (uint64_t)machine->prologue_set + machine->epilogue_allocated)
            return JITDUMP_ERROR_UNWIND_FRAME;
        first = machine->prologue_set;
        last = code_size - machine->epilogue_allocated;
        e->at = machine->prologue_allocated;
        frame_allocated(e);
        e->at = first;
        frame_set(e);
    }
    for (uint64_t i = 0; i < unwind->step_count; i++) {
        const struct jitdump_unwind_step *step = &unwind->steps[i];
        if (step->code_offset < first || step->code_offset > last)
            return JITDUMP_ERROR_UNWIND_STEP_RANGE;
        const int error = encode_step(e, step);
        if (error != 0)
            return error;
    }
    if (standard) {
        e->at = last;
        if (machine->epilogue_allocated != machine->epilogue_none)
            frame_allocated(e);
        e->at = code_size - machine->epilogue_none;
        frame_none(e);
    }
    return 0;
}
