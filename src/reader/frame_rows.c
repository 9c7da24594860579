#include "reader/frame_rows.h"

/* DW_CFA_…, DWARF 4, 7.23, and GNU's. Of the first three the lower six bits are an operand. */
enum opcode {
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_NOP = 0x00,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_AARCH64_NEGATE_RA_STATE = 0x2d,
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_OPERAND = 0x3f
};

/* How deep remembered states may be nested; compilers use one. */
#define REMEMBERED_MAX 4

static const char cut[] = ".eh_frame: an instruction that is shorter than its operands";

struct machine_state {
    struct cursor cursor;
    const struct frame_cie *cie;
    struct frame_row row;     /* begin is the location, end is not used */
    struct frame_row initial; /* as the CIE leaves it */
    struct frame_row *remembered; /* REMEMBERED_MAX */
    unsigned int remembered_count;
    uint64_t end;
    void (*tell)(void *context, const struct frame_row *row);
    void *context;
};

static int64_t factored(const struct machine_state *state, uint64_t offset)
{
    return (int64_t)(offset * (uint64_t)state->cie->data_alignment);
}

static void set(struct machine_state *state, uint64_t reg, struct frame_rule rule)
{
    if (reg < FRAME_REGISTER_COUNT)
        state->row.registers[reg] = rule;
}

static void restore(struct machine_state *state, uint64_t reg)
{
    if (reg < FRAME_REGISTER_COUNT)
        state->row.registers[reg] = state->initial.registers[reg];
}

/* A row is over: it is told, unless it is empty. */
static void advance(struct machine_state *state, uint64_t distance)
{
    struct frame_row *const row = &state->row;
    const uint64_t scaled = distance * state->cie->code_alignment;
    if (scaled > state->end - row->begin) {
        cursor_fail(&state->cursor, ".eh_frame: an instruction that leaves its FDE's code");
        return;
    }
    row->end = row->begin + scaled;
    if (row->end > row->begin)
        state->tell(state->context, row);
    row->begin = row->end;
}

static struct span block(struct cursor *cursor)
{
    const uint64_t size = jd_cursor_uleb128(cursor, cut);
    return (struct span){cursor_take(cursor, size, cut), size};
}

static void remember(struct machine_state *state)
{
    if (state->remembered_count == REMEMBERED_MAX)
        cursor_fail(&state->cursor, ".eh_frame: too many remembered states");
    else
        state->remembered[state->remembered_count++] = state->row;
}

static void restore_state(struct machine_state *state)
{
    if (state->remembered_count == 0) {
        cursor_fail(&state->cursor, ".eh_frame: no remembered state");
        return;
    }
    const uint64_t here = state->row.begin;
    state->row = state->remembered[--state->remembered_count];
    state->row.begin = here;
}

static struct frame_rule rule_at(enum frame_rule_kind kind, int64_t offset)
{
    return (struct frame_rule){.kind = kind, .offset = offset};
}

static void step_cfa(struct machine_state *state, uint8_t opcode)
{
    struct cursor *const cursor = &state->cursor;
    struct frame_rule *const cfa = &state->row.cfa;
    switch (opcode) {
    case CFA_DEF_CFA:
        cfa->reg = (uint32_t)jd_cursor_uleb128(cursor, cut);
        cfa->offset = (int64_t)jd_cursor_uleb128(cursor, cut);
        break;
    case CFA_DEF_CFA_SF:
        cfa->reg = (uint32_t)jd_cursor_uleb128(cursor, cut);
        cfa->offset = factored(state, (uint64_t)jd_cursor_sleb128(cursor, cut));
        break;
    case CFA_DEF_CFA_REGISTER:
        cfa->reg = (uint32_t)jd_cursor_uleb128(cursor, cut);
        break;
    case CFA_DEF_CFA_OFFSET:
        cfa->offset = (int64_t)jd_cursor_uleb128(cursor, cut);
        break;
    case CFA_DEF_CFA_OFFSET_SF:
        cfa->offset = factored(state, (uint64_t)jd_cursor_sleb128(cursor, cut));
        break;
    default:
        *cfa = (struct frame_rule){.kind = FRAME_EXPRESSION, .expression = block(cursor)};
        return;
    }
    cfa->kind = FRAME_OFFSET;
}

static void step_register(struct machine_state *state, uint8_t opcode)
{
    struct cursor *const cursor = &state->cursor;
    const uint64_t reg = jd_cursor_uleb128(cursor, cut);
    struct frame_rule rule = {0};
    switch (opcode) {
    case CFA_RESTORE_EXTENDED:
        restore(state, reg);
        return;
    case CFA_UNDEFINED:
        rule.kind = FRAME_UNDEFINED;
        break;
    case CFA_SAME_VALUE:
        rule.kind = FRAME_SAME_VALUE;
        break;
    case CFA_REGISTER:
        rule.kind = FRAME_REGISTER;
        rule.reg = (uint32_t)jd_cursor_uleb128(cursor, cut);
        break;
    case CFA_OFFSET_EXTENDED:
        rule = rule_at(FRAME_OFFSET, factored(state, jd_cursor_uleb128(cursor, cut)));
        break;
    case CFA_OFFSET_EXTENDED_SF:
        rule = rule_at(FRAME_OFFSET, factored(state, (uint64_t)jd_cursor_sleb128(cursor, cut)));
        break;
    case CFA_VAL_OFFSET:
        rule = rule_at(FRAME_VAL_OFFSET, factored(state, jd_cursor_uleb128(cursor, cut)));
        break;
    case CFA_VAL_OFFSET_SF:
        rule = rule_at(FRAME_VAL_OFFSET, factored(state, (uint64_t)jd_cursor_sleb128(cursor, cut)));
        break;
    default:
        rule.kind = opcode == CFA_EXPRESSION ? FRAME_EXPRESSION : FRAME_VAL_EXPRESSION;
        rule.expression = block(cursor);
    }
    set(state, reg, rule);
}

static void step(struct machine_state *state, uint8_t opcode)
{
    struct cursor *const cursor = &state->cursor;
    const uint8_t operand = opcode & CFA_OPERAND;
    switch (opcode & ~CFA_OPERAND) {
    case CFA_ADVANCE_LOC:
        advance(state, operand);
        return;
    case CFA_OFFSET:
        set(state, operand,
            rule_at(FRAME_OFFSET, factored(state, jd_cursor_uleb128(cursor, cut))));
        return;
    case CFA_RESTORE:
        restore(state, operand);
        return;
    default:
        break;
    }
    switch (opcode) {
    case CFA_NOP:
        break;
    case CFA_ADVANCE_LOC1:
        advance(state, cursor_u8(cursor, cut));
        break;
    case CFA_ADVANCE_LOC2:
        advance(state, cursor_u16(cursor, cut));
        break;
    case CFA_ADVANCE_LOC4:
        advance(state, cursor_u32(cursor, cut));
        break;
    case CFA_REMEMBER_STATE:
        remember(state);
        break;
    case CFA_RESTORE_STATE:
        restore_state(state);
        break;
    case CFA_DEF_CFA:
    case CFA_DEF_CFA_SF:
    case CFA_DEF_CFA_REGISTER:
    case CFA_DEF_CFA_OFFSET:
    case CFA_DEF_CFA_OFFSET_SF:
    case CFA_DEF_CFA_EXPRESSION:
        step_cfa(state, opcode);
        break;
    case CFA_RESTORE_EXTENDED:
    case CFA_UNDEFINED:
    case CFA_SAME_VALUE:
    case CFA_REGISTER:
    case CFA_OFFSET_EXTENDED:
    case CFA_OFFSET_EXTENDED_SF:
    case CFA_VAL_OFFSET:
    case CFA_VAL_OFFSET_SF:
    case CFA_EXPRESSION:
    case CFA_VAL_EXPRESSION:
        step_register(state, opcode);
        break;
    case CFA_AARCH64_NEGATE_RA_STATE:
        state->row.return_address_signed = !state->row.return_address_signed;
        break;
    case CFA_GNU_ARGS_SIZE:
        jd_cursor_uleb128(cursor, cut);
        break;
    default: /* DW_CFA_set_loc, too: in .eh_frame nobody writes it */
        cursor_fail(cursor, ".eh_frame: an instruction that is not known here");
    }
}

static void run(struct machine_state *state, struct span instructions)
{
    state->cursor.at = instructions.data;
    state->cursor.end = instructions.data + instructions.size;
    while (cursor_left(&state->cursor) > 0)
        step(state, cursor_u8(&state->cursor, cut));
}

bool jd_frame_rows(struct eh_frame *reader, const struct frame_fde *fde,
                   void (*row)(void *context, const struct frame_row *row), void *context)
{
    struct frame_row remembered[REMEMBERED_MAX]; /* not zeroed: that takes as long as all the rest */
    struct machine_state state = {
        .remembered = remembered,
        .cursor = reader->cursor,
        .cie = &fde->cie,
        .row = {.begin = fde->address},
        .end = fde->address + fde->size,
        .tell = row,
        .context = context,
    };
    run(&state, fde->cie.instructions);
    state.initial = state.row;
    if (state.cursor.error == NULL)
        run(&state, fde->instructions);
    if (state.cursor.error != NULL) {
        cursor_fail_at(&reader->cursor, state.cursor.error_offset, state.cursor.error);
        return false;
    }
    /* The last row goes on to the end. */
    state.row.end = state.end;
    if (state.row.begin < state.row.end)
        row(context, &state.row);
    return true;
}
