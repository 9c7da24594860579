/*
 * The bytes of an eh_frame against the description: the call frame instructions are executed, and
 * at each offset of the code they must say what the steps say. Knows DWARF (version 5, section
 * 6.4) and jitdump.h, and nothing of how the library encodes.
 */
#include "records.h"

#include <elf.h>
#include <string.h>

#define REGISTERS 128
#define ROWS_MAX 64 /* of nested states */

/* Where the caller's registers are: how far below the CFA; 0: in themselves. */
struct row {
    uint64_t cfa_register;
    uint64_t cfa_offset;
    uint64_t below[REGISTERS];
};

struct machine {
    uint32_t elf_mach;
    uint32_t stack_pointer, frame_pointer, return_address;
    uint64_t entry_offset;        /* of the CFA, from the stack pointer */
    uint64_t frame_pointer_offset; /* of the CFA */
    uint64_t prologue[2], epilogue[2];
};

static const struct machine machines[] = {
    {EM_X86_64, 7, 6, 16, 8, 16, {1, 4}, {1, 1}},
    {EM_AARCH64, 31, 29, 30, 0, 16, {4, 8}, {4, 4}},
    {EM_RISCV, 2, 8, 1, 0, 0, {4, 16}, {8, 4}},
};

static const struct machine *find_machine(uint32_t elf_mach)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        if (machines[i].elf_mach == elf_mach)
            return &machines[i];
    wrong("unwinding data for a machine", elf_mach, 0);
}

/* What the steps say */

static struct row entry_row(const struct machine *machine)
{
    struct row row = {machine->stack_pointer, machine->entry_offset, {0}};
    if (machine->elf_mach == EM_X86_64)
        row.below[machine->return_address] = 8;
    return row;
}

struct states {
    struct row row;
    struct row kept[ROWS_MAX];
    int count;
};

static void step(struct states *states, const struct machine *machine, uint32_t op, uint32_t reg,
                 int64_t offset)
{
    struct row *row = &states->row;
    switch ((enum jitdump_unwind_op)op) {
    case JITDUMP_UNWIND_DEF_CFA:
        row->cfa_register = reg;
        row->cfa_offset = (uint64_t)offset;
        return;
    case JITDUMP_UNWIND_OFFSET:
        row->below[reg] = (uint64_t)-offset;
        return;
    case JITDUMP_UNWIND_RESTORE:
        row->below[reg] = entry_row(machine).below[reg];
        return;
    case JITDUMP_UNWIND_REMEMBER_STATE:
        states->kept[states->count++] = *row;
        return;
    case JITDUMP_UNWIND_RESTORE_STATE:
        *row = states->kept[--states->count];
        return;
    case JITDUMP_UNWIND_FRAME_NONE:
        *row = entry_row(machine);
        return;
    case JITDUMP_UNWIND_FRAME_ALLOCATED:
        row->cfa_register = machine->stack_pointer;
        row->cfa_offset = 16;
        row->below[machine->frame_pointer] = 0;
        row->below[machine->return_address] = entry_row(machine).below[machine->return_address];
        return;
    case JITDUMP_UNWIND_FRAME_SET:
        row->cfa_register = machine->frame_pointer;
        row->cfa_offset = machine->frame_pointer_offset;
        row->below[machine->frame_pointer] = 16;
        row->below[machine->return_address] = 8;
        return;
    }
    wrong("op", op, 0);
}

/* The row at an offset. */
static void follow_steps(struct states *states, const struct machine *machine,
                         const struct jitdump_code *code, uint64_t at)
{
    const struct jitdump_unwind *unwind = code->unwind;
    const bool standard = unwind->frame == JITDUMP_FRAME_POINTER;
    states->row = entry_row(machine);
    states->count = 0;
    if (standard && at >= machine->prologue[0])
        step(states, machine, JITDUMP_UNWIND_FRAME_ALLOCATED, 0, 0);
    if (standard && at >= machine->prologue[1])
        step(states, machine, JITDUMP_UNWIND_FRAME_SET, 0, 0);
    for (uint64_t i = 0; i < unwind->step_count && unwind->steps[i].code_offset <= at; i++)
        step(states, machine, unwind->steps[i].op, unwind->steps[i].reg, unwind->steps[i].offset);
    if (standard && at >= code->code_size - machine->epilogue[0])
        step(states, machine, JITDUMP_UNWIND_FRAME_ALLOCATED, 0, 0);
    if (standard && at >= code->code_size - machine->epilogue[1])
        step(states, machine, JITDUMP_UNWIND_FRAME_NONE, 0, 0);
}

/* What the bytes say */

static uint64_t read_number(struct reader *reader, size_t size)
{
    uint64_t number = 0;
    memcpy(&number, read_bytes(reader, size), size);
    return number;
}

static uint64_t read_uleb128(struct reader *reader)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint64_t byte = read_number(reader, 1);
        value |= (byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return value;
    }
}

static uint64_t *register_of(struct row *row, uint64_t reg)
{
    if (reg >= REGISTERS)
        wrong("register", reg, REGISTERS);
    return &row->below[reg];
}

/* One instruction. What it says holds from *at on, which it may move. */
static void execute(struct states *states, struct reader *reader, const struct row *initial,
                    uint64_t *at)
{
    struct row *row = &states->row;
    const uint64_t opcode = read_number(reader, 1), low = opcode & 0x3f;
    uint64_t reg;
    switch (opcode >> 6) {
    case 1: /* DW_CFA_advance_loc */
        *at += low;
        return;
    case 2: /* DW_CFA_offset */
        *register_of(row, low) = 8 * read_uleb128(reader);
        return;
    case 3: /* DW_CFA_restore */
        *register_of(row, low) = initial->below[low];
        return;
    default:
        break;
    }
    switch (opcode) {
    case 0x00: /* DW_CFA_nop */
        return;
    case 0x02: /* DW_CFA_advance_loc1, 2 and 4 */
    case 0x03:
    case 0x04:
        *at += read_number(reader, (size_t)1 << (opcode - 2));
        return;
    case 0x05: /* DW_CFA_offset_extended */
        reg = read_uleb128(reader);
        *register_of(row, reg) = 8 * read_uleb128(reader);
        return;
    case 0x06: /* DW_CFA_restore_extended */
        reg = read_uleb128(reader);
        *register_of(row, reg) = initial->below[reg];
        return;
    case 0x0a: /* DW_CFA_remember_state */
        states->kept[states->count++] = *row;
        return;
    case 0x0b: /* DW_CFA_restore_state */
        if (states->count == 0)
            wrong("restore_state without a state", 0, 1);
        *row = states->kept[--states->count];
        return;
    case 0x0c: /* DW_CFA_def_cfa */
        row->cfa_register = read_uleb128(reader);
        row->cfa_offset = read_uleb128(reader);
        return;
    case 0x0d: /* DW_CFA_def_cfa_register */
        row->cfa_register = read_uleb128(reader);
        return;
    case 0x0e: /* DW_CFA_def_cfa_offset */
        row->cfa_offset = read_uleb128(reader);
        return;
    default:
        wrong("call frame instruction", opcode, 0);
    }
}

static void expect_row(const struct row *is, const struct row *should, uint64_t at)
{
    if (is->cfa_register != should->cfa_register || is->cfa_offset != should->cfa_offset)
        wrong("CFA", is->cfa_offset, should->cfa_offset);
    for (uint32_t reg = 0; reg < REGISTERS; reg++)
        if (is->below[reg] != should->below[reg])
            wrong("register's place; at", reg, at);
}

static void check_instructions(struct reader fde, const struct row *initial,
                               const struct machine *machine, const struct jitdump_code *code)
{
    static struct states is, should;
    is.row = *initial;
    is.count = 0;
    uint64_t at = 0;
    while (fde.left != 0) {
        const uint64_t before = at;
        const struct row row = is.row;
        execute(&is, &fde, initial, &at);
        if (at == before)
            continue;
        /* What was said holds up to here. */
        follow_steps(&should, machine, code, before);
        expect_row(&row, &should.row, before);
        follow_steps(&should, machine, code, at - 1);
        expect_row(&row, &should.row, at - 1);
    }
    if (at > code->code_size)
        wrong("instructions behind the code", at, code->code_size);
    follow_steps(&should, machine, code, at);
    expect_row(&is.row, &should.row, at);
    follow_steps(&should, machine, code, code->code_size);
    expect_row(&is.row, &should.row, code->code_size);
}

/* The length, and then the entry as a reader of its own. */
static struct reader read_entry(struct reader *frame)
{
    const uint64_t length = read_number(frame, 4);
    expect("length of an entry, modulo 4", length % 4, 0);
    return (struct reader){read_bytes(frame, length), length};
}

void check_unwinding(const unsigned char *bytes, uint64_t frame_size, uint64_t hdr_size,
                     uint32_t elf_mach, const struct jitdump_code *code)
{
    static const unsigned char cie_head[] = {0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78};
    const struct machine *machine = find_machine(elf_mach);
    const bool relative = hdr_size != 0;
    struct reader frame = {bytes, frame_size};

    struct reader cie = read_entry(&frame);
    if (memcmp(read_bytes(&cie, sizeof(cie_head)), cie_head, sizeof(cie_head)) != 0)
        wrong("CIE", 0, 1);
    expect("return address", read_number(&cie, 1), machine->return_address);
    expect("augmentation data", read_number(&cie, 1), 1);
    expect("FDE encoding", read_number(&cie, 1), relative ? 0x1b : 0);
    static struct states states;
    states.row = (struct row){0, 0, {0}};
    uint64_t at = 0;
    while (cie.left != 0)
        execute(&states, &cie, &states.row, &at);
    const struct row entry = entry_row(machine);
    expect_row(&states.row, &entry, 0);

    /* In perf's ELF file: the code, padded to 8, then this. */
    const uint64_t frame_addr = (code->code_size + 7) / 8 * 8;
    const uint64_t fde_offset = frame_size - frame.left;
    struct reader fde = read_entry(&frame);
    expect("CIE pointer", read_number(&fde, 4), fde_offset + 4);
    if (relative) {
        const uint64_t field = frame_addr + fde_offset + 8;
        expect("pc_begin", field + (uint64_t)(int64_t)(int32_t)read_number(&fde, 4), 0);
        expect("pc_range", read_number(&fde, 4), code->code_size);
    } else {
        expect("pc_begin", read_number(&fde, 8), code->code_addr);
        expect("pc_range", read_number(&fde, 8), code->code_size);
    }
    expect("augmentation data", read_number(&fde, 1), 0);
    check_instructions(fde, &entry, machine, code);
    expect("terminator", read_number(&frame, 4), 0);
    expect("bytes left in the eh_frame", frame.left, 0);
    if (!relative)
        return;

    struct reader hdr = {bytes + frame_size, hdr_size};
    const uint64_t hdr_addr = frame_addr + frame_size;
    expect("head of eh_frame_hdr", read_number(&hdr, 4), 0x3b031b01);
    expect("eh_frame_ptr", hdr_addr + 4 + (uint64_t)(int64_t)(int32_t)read_number(&hdr, 4),
           frame_addr);
    expect("fde_count", read_number(&hdr, 4), 1);
    expect("its location", hdr_addr + (uint64_t)(int64_t)(int32_t)read_number(&hdr, 4), 0);
    expect("its FDE", hdr_addr + (uint64_t)(int64_t)(int32_t)read_number(&hdr, 4),
           frame_addr + fde_offset);
    expect("bytes left in the eh_frame_hdr", hdr.left, 0);
}

void check_copied_unwinding(const unsigned char *bytes, uint64_t frame_size, uint64_t hdr_size,
                            const struct jitdump_code *code)
{
    const uint64_t hdr_addr = (code->code_size + 7) / 8 * 8 + frame_size;
    struct reader hdr = {bytes + frame_size, hdr_size};
    expect("head of eh_frame_hdr", read_number(&hdr, 4), 0x3b031b01);
    expect("eh_frame_ptr", 4 + (uint64_t)(int64_t)(int32_t)read_number(&hdr, 4), 0 - frame_size);
    const uint64_t count = read_number(&hdr, 4);
    expect("size of the table", hdr.left, count * 8);
    uint64_t sum = 0, before = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t location = hdr_addr + (uint64_t)(int64_t)(int32_t)read_number(&hdr, 4);
        if (location >= code->code_size || location < before)
            wrong("a location in the table", location, before);
        before = location;
        const uint64_t fde = frame_size + (uint64_t)(int64_t)(int32_t)read_number(&hdr, 4);
        if (fde >= frame_size)
            wrong("an FDE in the table", fde, frame_size);
        sum += fde ^ location << 32;
    }
    struct reader frame = {bytes, frame_size};
    uint64_t cie = UINT64_MAX;
    for (;;) {
        const uint64_t at = frame_size - frame.left;
        struct reader entry = {frame.at, frame.left};
        if (read_number(&entry, 4) == 0)
            break;
        entry = read_entry(&frame);
        const uint64_t id = read_number(&entry, 4);
        if (id == 0) {
            cie = at;
            continue;
        }
        expect("CIE pointer", at + 4 - id, cie);
        const uint64_t location = (code->code_size + 7) / 8 * 8 + at + 8 +
                                  (uint64_t)(int64_t)(int32_t)read_number(&entry, 4);
        const uint64_t size = read_number(&entry, 4);
        if (location >= code->code_size || size > code->code_size - location || size == 0)
            wrong("an FDE's code", location, size);
        sum -= at ^ location << 32;
    }
    expect("terminator", frame.left, 4);
    expect("what the table leads to", sum, 0);
}
