#include "writers/breakpad_frames.h"

#include "format/machine.h"
#include "writers/text_line.h"

#include <stdlib.h>

/* How readers call a machine's registers. */
struct breakpad_cpu {
    uint32_t elf_mach;
    const char *prefix; /* before each register's name */
    uint32_t register_count;
    /* The return address is in that register until something else is said. */
    bool has_link_register;
};

/* Those whose minidumps have readers. On x86-64 the last register of DWARF's, rip, is the return
 * address itself. */
static const struct breakpad_cpu cpus[] = {
    {ELF_MACH_X86_64, "$", 16, false},
    {ELF_MACH_AARCH64, "", 32, true},
    {ELF_MACH_RISCV, "", 32, true},
};

bool breakpad_frames_init(struct breakpad_frames *frames, uint32_t elf_mach, uint64_t base)
{
    *frames = (struct breakpad_frames){.base = base};
    for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++)
        if (cpus[i].elf_mach == elf_mach)
            frames->cpu = &cpus[i];
    if (frames->cpu == NULL)
        return false;
    frames->names = jd_machine(elf_mach)->registers;
    frames->address_size = elf_mach_address_size(elf_mach);
    return true;
}

void breakpad_frames_free(struct breakpad_frames *frames)
{
    free(frames->fdes);
    frames->fdes = NULL;
    bytes_free(&frames->first);
    bytes_free(&frames->changes);
}

bool breakpad_frames_failed(const struct breakpad_frames *frames)
{
    return frames->failed || frames->first.failed || frames->changes.failed;
}

/* Rules */

static void put_register(const struct breakpad_frames *frames, uint32_t reg, struct bytes *line)
{
    line_text(line, frames->cpu->prefix);
    line_text(line, frames->names[reg]);
}

static bool is_kept(const struct frame_rule *rule)
{
    return rule->kind == FRAME_UNSPECIFIED || rule->kind == FRAME_SAME_VALUE;
}

/* Whether a line can express it. */
static bool is_sayable(const struct breakpad_cpu *cpu, const struct frame_rule *rule)
{
    return rule->kind == FRAME_OFFSET || rule->kind == FRAME_VAL_OFFSET ||
           (rule->kind == FRAME_REGISTER && rule->reg < cpu->register_count);
}

/* The rule, as text, for where the caller's value of a register is. */
static void put_rule(const struct breakpad_frames *frames, const struct frame_rule *rule,
                     struct bytes *line)
{
    if (rule->kind == FRAME_REGISTER) {
        put_register(frames, rule->reg, line);
        return;
    }
    line_text(line, ".cfa ");
    line_signed(line, rule->offset);
    line_text(line, rule->kind == FRAME_OFFSET ? " + ^" : " +");
}

static bool are_equal(const struct frame_rule *a, const struct frame_rule *b)
{
    return a->kind == b->kind && a->reg == b->reg && a->offset == b->offset;
}

static bool is_usable(const struct breakpad_frames *frames, const struct frame_row *row)
{
    const struct frame_rule *const ra = &row->registers[frames->return_address];
    return row->cfa.kind == FRAME_OFFSET && row->cfa.reg < frames->cpu->register_count &&
           (is_sayable(frames->cpu, ra) || ra->kind == FRAME_UNDEFINED ||
            (is_kept(ra) && frames->cpu->has_link_register &&
             frames->return_address < frames->cpu->register_count));
}

static void put_cfa(const struct breakpad_frames *frames, const struct frame_rule *cfa,
                    struct bytes *line)
{
    line_text(line, " .cfa: ");
    put_register(frames, cfa->reg, line);
    bytes_u8(line, ' ');
    line_signed(line, cfa->offset);
    line_text(line, " +");
}

/* Where there is no caller, the address 0 says so: "unknown" would make readers guess. */
static void put_return_address(const struct breakpad_frames *frames, const struct frame_rule *rule,
                               struct bytes *line)
{
    line_text(line, " .ra: ");
    if (rule->kind == FRAME_UNDEFINED)
        bytes_u8(line, '0');
    else if (is_kept(rule))
        put_register(frames, frames->return_address, line);
    else
        put_rule(frames, rule, line);
}

/* Rows */

static void close_lines(struct breakpad_frames *frames)
{
    struct bytes *const text = frames->text;
    if (!frames->is_open)
        return;
    frames->is_open = false;
    line_text(text, "STACK CFI INIT ");
    line_hex(text, frames->begin - frames->base);
    bytes_u8(text, ' ');
    line_hex(text, frames->end - frames->begin);
    bytes_copy(text, frames->first.data, frames->first.size);
    bytes_u8(text, '\n');
    if (frames->changes.size > 0)
        bytes_copy(text, frames->changes.data, frames->changes.size);
}

/* A register that lines have a rule for, and that has none now: only beginning new lines takes
 * the rule away. */
static bool must_forget(const struct breakpad_frames *frames, const struct frame_row *row)
{
    for (uint32_t reg = 0; reg < frames->cpu->register_count; reg++)
        if (!is_kept(&frames->written.registers[reg]) && !is_kept(&row->registers[reg]) &&
            is_sayable(frames->cpu, &frames->written.registers[reg]) &&
            !is_sayable(frames->cpu, &row->registers[reg]))
            return true;
    return false;
}

/* The rules of a row that are not yet written, each with a space in front. */
static void put_changes(struct breakpad_frames *frames, const struct frame_row *row,
                        struct bytes *line)
{
    struct frame_row *const written = &frames->written;
    if (!are_equal(&row->cfa, &written->cfa))
        put_cfa(frames, &row->cfa, line);
    for (uint32_t reg = 0; reg < frames->cpu->register_count; reg++) {
        const struct frame_rule *const rule = &row->registers[reg];
        const bool sayable = is_sayable(frames->cpu, rule);
        if (reg == frames->return_address || are_equal(rule, &written->registers[reg]) ||
            (!sayable && !is_sayable(frames->cpu, &written->registers[reg])))
            continue;
        bytes_u8(line, ' ');
        put_register(frames, reg, line);
        line_text(line, ": ");
        if (sayable)
            put_rule(frames, rule, line);
        else
            put_register(frames, reg, line);
    }
    const struct frame_rule *const ra = &row->registers[frames->return_address];
    const bool is_first = written->cfa.kind == FRAME_UNSPECIFIED;
    if (is_first || !are_equal(ra, &written->registers[frames->return_address]))
        put_return_address(frames, ra, line);
}

/* What the lines say from now on. */
static void keep_written(struct breakpad_frames *frames, const struct frame_row *row)
{
    frames->written.cfa = row->cfa;
    frames->written.registers[frames->return_address] = row->registers[frames->return_address];
    memcpy(frames->written.registers, row->registers,
           frames->cpu->register_count * sizeof(row->registers[0]));
}

/* New lines, which say nothing yet. */
static void open_lines(struct breakpad_frames *frames, uint64_t begin)
{
    frames->is_open = true;
    frames->begin = begin;
    frames->first.size = frames->changes.size = 0;
    frames->written.cfa = (struct frame_rule){.kind = FRAME_UNSPECIFIED};
    memset(frames->written.registers, 0,
           frames->cpu->register_count * sizeof(frames->written.registers[0]));
}

static void add_row(void *context, const struct frame_row *row)
{
    struct breakpad_frames *const frames = context;
    const bool is_new = !frames->is_open || must_forget(frames, row);
    if (is_new || !is_usable(frames, row))
        close_lines(frames);
    if (!is_usable(frames, row))
        return;
    if (is_new) {
        open_lines(frames, row->begin);
        put_changes(frames, row, &frames->first);
    } else {
        struct bytes *const line = &frames->changes;
        const size_t start = line->size;
        line_text(line, "STACK CFI ");
        line_hex(line, row->begin - frames->base);
        const size_t rules = line->size;
        put_changes(frames, row, line);
        if (line->size > rules)
            bytes_u8(line, '\n');
        else
            line->size = start;
    }
    frames->end = row->end;
    keep_written(frames, row);
}

/* Functions */

static const char *keep_fde(void *context, struct eh_frame *reader, const struct frame_fde *fde)
{
    struct breakpad_frames *const frames = context;
    if (fde->cie.return_address_register >= FRAME_REGISTER_COUNT)
        return "its .eh_frame has the return address in a register that is not known";
    if (frames->fde_count == frames->fde_capacity) {
        const size_t capacity = frames->fde_capacity == 0 ? 16 : 2 * frames->fde_capacity;
        void *const fdes = realloc(frames->fdes, capacity * sizeof(*frames->fdes));
        if (fdes == NULL) {
            frames->failed = true;
            return NULL;
        }
        frames->fdes = fdes;
        frames->fde_capacity = capacity;
    }
    frames->fdes[frames->fde_count++] = *fde;
    frames->reader = *reader;
    return NULL;
}

static int compare_fdes(const void *left, const void *right)
{
    const struct frame_fde *const a = left;
    const struct frame_fde *const b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

/* By address: lines must not overlap. */
static const char *sort_fdes(struct breakpad_frames *frames)
{
    struct frame_fde *const fdes = frames->fdes;
    if (frames->fde_count > 1)
        qsort(fdes, frames->fde_count, sizeof(*fdes), compare_fdes);
    for (size_t i = 1; i < frames->fde_count; i++)
        if (fdes[i].address - fdes[i - 1].address < fdes[i - 1].size)
            return "its .eh_frame describes some of the code twice";
    return NULL;
}

const char *breakpad_frames_add(struct breakpad_frames *frames,
                                const struct function_frames *function, struct bytes *text)
{
    const size_t size = text->size;
    frames->fde_count = 0;
    frames->text = text;
    const char *wrong = function_frames_read(function, frames->address_size, keep_fde, frames);
    if (wrong == NULL)
        wrong = sort_fdes(frames);
    for (size_t i = 0; i < frames->fde_count && wrong == NULL; i++) {
        const struct frame_fde *const fde = &frames->fdes[i];
        frames->return_address = (uint32_t)fde->cie.return_address_register;
        jd_frame_rows(&frames->reader, fde, add_row, frames);
        wrong = frames->reader.cursor.error;
        close_lines(frames);
    }
    if (wrong != NULL)
        text->size = size;
    return wrong;
}
