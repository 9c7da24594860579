/* Call frame instructions, each one by itself: what compilers seldom write, and what nobody should. What they do
 * write is compared with readelf's reading in test_frames.py. */
#include "reader/frame_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { CODE_SIZE = 0x40, BYTES_MAX = 64, TEXT_MAX = 1000 };
static const uint64_t code = UINT64_C(0x7f0000001000);

/* One row for each line of text: "begin-end CFA register=rule …", in offsets from the code. */
struct text {
    char of[TEXT_MAX];
    size_t size;
};

static void put(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text->size += (size_t)vsnprintf(text->of + text->size, TEXT_MAX - text->size, format, arguments);
    va_end(arguments);
    assert_in_range(text->size, 0, TEXT_MAX - 1);
}

static void put_rule(struct text *text, const struct frame_rule *rule)
{
    static const char *const names[] = {"none", "lost", "kept", "at", "is", "in", "at ", "is "};
    put(text, "%s", names[rule->kind]);
    if (rule->kind == FRAME_OFFSET || rule->kind == FRAME_VAL_OFFSET)
        put(text, "%+d", (int)rule->offset);
    else if (rule->kind == FRAME_REGISTER)
        put(text, " r%u", (unsigned int)rule->reg);
    else if (rule->kind == FRAME_EXPRESSION || rule->kind == FRAME_VAL_EXPRESSION)
        for (uint64_t i = 0; i < rule->expression.size; i++)
            put(text, "%02x", rule->expression.data[i]);
}

static void put_row(void *context, const struct frame_row *row)
{
    struct text *const text = context;
    put(text, "%x-%x ", (unsigned int)(row->begin - code), (unsigned int)(row->end - code));
    if (row->cfa.kind == FRAME_OFFSET)
        put(text, "r%u%+d", (unsigned int)row->cfa.reg, (int)row->cfa.offset);
    else
        put_rule(text, &row->cfa);
    for (unsigned int i = 0; i < FRAME_REGISTER_COUNT; i++)
        if (row->registers[i].kind != FRAME_UNSPECIFIED) {
            put(text, " r%u ", i);
            put_rule(text, &row->registers[i]);
        }
    put(text, "%s\n", row->return_address_signed ? " signed" : "");
}

/* As many bytes as stand in the literal. */
#define BYTES(literal) {(const unsigned char *)(literal), sizeof(literal) - 1}

static const struct span of_cie = BYTES("\x0c\x07\x08\x90\x01"); /* CFA r7 + 8, r16 at CFA - 8 */

/* Behind the CIE's instructions. `rows` are those before the error, which is where reading ended. Code is counted
 * in units of 2, data in units of -8. */
struct example {
    struct span instructions;
    const char *rows;
    const char *error;
    uint64_t error_offset;
};

/* Offsets count from `base`. */
static void check(struct span cie, const struct example *example, const unsigned char *base, bool swapped)
{
    struct eh_frame reader = {.cursor = {.base = base, .swapped = swapped}};
    const struct frame_fde fde = {
        .cie = {.code_alignment = 2, .data_alignment = -8, .instructions = cie},
        .address = code,
        .size = CODE_SIZE,
        .instructions = example->instructions,
    };
    struct text text = {.size = 0};
    const bool whole = jd_frame_rows(&reader, &fde, put_row, &text);
    assert_string_equal(text.of, example->rows);
    assert_int_equal(whole, example->error == NULL);
    if (example->error == NULL) {
        assert_null(reader.cursor.error);
        return;
    }
    assert_string_equal(reader.cursor.error, example->error);
    assert_int_equal(reader.cursor.error_offset, example->error_offset);
}

#define FIRST "r7+8 r16 at-8" /* as the CIE has it */
#define CUT ".eh_frame: an instruction that is shorter than its operands"
#define UNKNOWN ".eh_frame: an instruction that is not known here"

static void each_instruction(void **state)
{
    static const struct example examples[] = {
        {BYTES(""), "0-40 " FIRST "\n", NULL, 0},
        {BYTES("\0\0\0"), "0-40 " FIRST "\n", NULL, 0},
        /* advance_loc, _loc1: of nothing, and to the end of the code */
        {BYTES("\x41\x0e\x10"), "0-2 " FIRST "\n2-40 r7+16 r16 at-8\n", NULL, 0},
        {BYTES("\x40\x0e\x10\x41\x02\x00\x0e\x08"), "0-2 r7+16 r16 at-8\n2-40 " FIRST "\n", NULL, 0},
        {BYTES("\x02\x1f\x0e\x10"), "0-3e " FIRST "\n3e-40 r7+16 r16 at-8\n", NULL, 0},
        {BYTES("\x02\x20\x0e\x10"), "0-40 " FIRST "\n", NULL, 0},
        /* def_cfa_sf, _register, _offset_sf, _expression */
        {BYTES("\x12\x06\x7c"), "0-40 r6+32 r16 at-8\n", NULL, 0},
        {BYTES("\x0d\x06"), "0-40 r6+8 r16 at-8\n", NULL, 0},
        {BYTES("\x13\x7e"), "0-40 r7+16 r16 at-8\n", NULL, 0},
        {BYTES("\x0f\x02\x77\x08"), "0-40 at 7708 r16 at-8\n", NULL, 0},
        {BYTES("\x0f\x00\x41\x0c\x06\x10"), "0-2 at  r16 at-8\n2-40 r6+16 r16 at-8\n", NULL, 0},
        /* offset_extended, _sf, val_offset, _sf */
        {BYTES("\x05\x11\x02"), "0-40 " FIRST " r17 at-16\n", NULL, 0},
        {BYTES("\x11\x11\x7e"), "0-40 " FIRST " r17 at+16\n", NULL, 0},
        {BYTES("\x14\x11\x02"), "0-40 " FIRST " r17 is-16\n", NULL, 0},
        {BYTES("\x15\x11\x7e"), "0-40 " FIRST " r17 is+16\n", NULL, 0},
        /* undefined, same_value, register, expression, val_expression */
        {BYTES("\x07\x10\x08\x03\x09\x0e\x0f"), "0-40 r7+8 r3 kept r14 in r15 r16 lost\n", NULL, 0},
        {BYTES("\x10\x03\x01\x90\x16\x06\x02\x91\x92"), "0-40 r7+8 r3 at 90 r6 is 9192 r16 at-8\n", NULL, 0},
        /* restore, restore_extended */
        {BYTES("\x07\x10\xc3\x41\xd0"), "0-2 r7+8 r16 lost\n2-40 " FIRST "\n", NULL, 0},
        {BYTES("\x07\x10\x41\x06\x10"), "0-2 r7+8 r16 lost\n2-40 " FIRST "\n", NULL, 0},
        /* remember_state, restore_state: one in the other, of all but the place */
        {BYTES("\x0a\x0e\x10\x2d\x41\x0a\x07\x10\x41\x0b\x41\x0b"),
         "0-2 r7+16 r16 at-8 signed\n2-4 r7+16 r16 lost signed\n4-6 r7+16 r16 at-8 signed\n6-40 " FIRST "\n",
         NULL, 0},
        {BYTES("\x0a\x0a\x0a\x0a\x0b\x0b\x0b\x0b"), "0-40 " FIRST "\n", NULL, 0},
        /* AARCH64_negate_ra_state, GNU_args_size */
        {BYTES("\x2d\x41\x2d\x41"), "0-2 " FIRST " signed\n2-4 " FIRST "\n4-40 " FIRST "\n", NULL, 0},
        {BYTES("\x2e\x91\x01"), "0-40 " FIRST "\n", NULL, 0},
        /* Registers that no machine has, and the last one that is kept. */
        {BYTES("\x05\x7f\x02\x41\x06\x7f"), "0-2 " FIRST " r127 at-16\n2-40 " FIRST "\n", NULL, 0},
        {BYTES("\x05\x80\x01\x02\x05\x81\x01\x02"), "0-40 " FIRST "\n", NULL, 0},
        {BYTES("\x2d\x06\x80\x01"), "0-40 " FIRST " signed\n", NULL, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        check(of_cie, &examples[i], examples[i].instructions.data, false);
}

static void what_is_wrong(void **state)
{
    static const struct example examples[] = {
        {BYTES("\x02\x21"), "", ".eh_frame: an instruction that leaves its FDE's code", 2},
        {BYTES("\x41\x02\x20\x00"), "0-2 " FIRST "\n", ".eh_frame: an instruction that leaves its FDE's code", 3},
        {BYTES("\x41\x0a\x0a\x0a\x0a\x0a\x41"), "0-2 " FIRST "\n", ".eh_frame: too many remembered states", 6},
        {BYTES("\x0a\x0b\x0b\x41"), "", ".eh_frame: no remembered state", 3},
        {BYTES("\x04\0\0\0\0\x0b"), "", ".eh_frame: no remembered state", 6},
        {BYTES("\x01\0\0\0\0\0\0\0\0"), "", UNKNOWN, 1},
        {BYTES("\x41\x3f\x41"), "0-2 " FIRST "\n", UNKNOWN, 2},
        {BYTES("\x03\x01"), "", CUT, 1},
        {BYTES("\x90"), "", CUT, 1},
        {BYTES("\x2e\x80"), "", CUT, 2},
        {BYTES("\x0f\x02\x77"), "", CUT, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        check(of_cie, &examples[i], examples[i].instructions.data, false);
}

static void what_is_wrong_in_the_cie(void **state)
{
    static const unsigned char bytes[] = {0x3f, 0x41, 0x41};
    const struct example example = {{bytes + 1, 2}, "", UNKNOWN, 1};
    (void)state;
    check((struct span){bytes, 1}, &example, bytes, false);
}

static void both_byte_orders(void **state)
{
    static const struct example little = {BYTES("\x03\x01\0\x0e\x10\x04\x02\0\0\0\x0e\x18"),
        "0-2 " FIRST "\n2-6 r7+16 r16 at-8\n6-40 r7+24 r16 at-8\n", NULL, 0};
    static const struct example big = {BYTES("\x03\0\x01\x0e\x10\x04\0\0\0\x02\x0e\x18"),
        "0-2 " FIRST "\n2-6 r7+16 r16 at-8\n6-40 r7+24 r16 at-8\n", NULL, 0};
    const uint16_t one = 1;
    unsigned char low;
    (void)state;
    memcpy(&low, &one, 1);
    check(of_cie, &little, NULL, low != 1);
    check(of_cie, &big, NULL, low == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_instruction),
        cmocka_unit_test(what_is_wrong),
        cmocka_unit_test(what_is_wrong_in_the_cie),
        cmocka_unit_test(both_byte_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
