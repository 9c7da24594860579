/* Unwinding data: the exact bytes of a few descriptions, the sizes, and every refusal. That the
 * bytes say what the description says is checked in tests/consumers/unwind by readelf,
 * llvm-dwarfdump and unwinders. */
#include "temporary.h"

#include "format/elf_mach.h"
#include "jitdump.h"
#include "encode/eh_frame.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const struct jitdump_unwind standard = {.struct_size = sizeof(standard),
                                               .frame = JITDUMP_FRAME_POINTER};

static struct jitdump_code code_with(const struct jitdump_unwind *unwind, uint64_t code_size)
{
    return (struct jitdump_code){.struct_size = sizeof(struct jitdump_code),
                                 .name = "f",
                                 .code_addr = 0x1122334455667788,
                                 .code_size = code_size,
                                 .unwind = unwind};
}

static void assert_dump_bytes(uint32_t elf_mach, const struct jitdump_code *code,
                              const unsigned char *eh_frame, size_t eh_frame_size,
                              const unsigned char *eh_frame_hdr)
{
    enum { EH_FRAME_HDR_SIZE = 20 };
    unsigned char written[256];
    memset(written, 0xee, sizeof(written));
    struct unwind_size size;
    assert_int_equal(jd_unwind_check(code, elf_mach, NULL, &size), 0);
    assert_int_equal(size.eh_frame, eh_frame_size);
    assert_int_equal(size.eh_frame_hdr, EH_FRAME_HDR_SIZE);
    const struct unwind_size again = jd_unwind_write(written, elf_mach, NULL, code);
    assert_memory_equal(&again, &size, sizeof(size));
    assert_memory_equal(written, eh_frame, eh_frame_size);
    assert_memory_equal(written + eh_frame_size, eh_frame_hdr, EH_FRAME_HDR_SIZE);
    assert_int_equal(written[eh_frame_size + EH_FRAME_HDR_SIZE], 0xee);
}

/* The library writes in the byte order of its own machine, which is that of the described one
 * wherever code is really generated. */
static void skip_in_other_byte_order(void)
{
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
        print_message("skipped: the expected bytes are little-endian\n");
        skip();
    }
}

static void the_standard_frame_of_x86_64(void **state)
{
    (void)state;
    skip_in_other_byte_order();
    /* 13 bytes of code: the eh_frame is at 16. */
    const unsigned char eh_frame[] = {
        20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, /* CIE */
        0x0c, 7, 8, 0x90, 1, 0, 0,       /* def_cfa rsp 8; offset ra -8 */
        28, 0, 0, 0, 28, 0, 0, 0,        /* FDE */
        0xd0, 0xff, 0xff, 0xff, 13, 0, 0, 0, 0,
        0x41, 0x0e, 16,                  /* at 1: def_cfa_offset 16 */
        0x43, 0x0d, 6, 0x86, 2,          /* at 4: def_cfa_register rbp; offset rbp -16 */
        0x48, 0x0c, 7, 8, 0xc6, 0, 0,    /* at 12: def_cfa rsp 8; restore rbp */
        0, 0, 0, 0};
    const unsigned char eh_frame_hdr[] = {1, 0x1b, 0x03, 0x3b,
                                          0xc0, 0xff, 0xff, 0xff, /* eh_frame - here */
                                          1, 0, 0, 0,
                                          0xb4, 0xff, 0xff, 0xff,  /* code - header */
                                          0xdc, 0xff, 0xff, 0xff}; /* FDE - header */
    const struct jitdump_code code = code_with(&standard, 13);
    assert_dump_bytes(EM_X86_64, &code, eh_frame, sizeof(eh_frame), eh_frame_hdr);
}

static void the_bytes_alone_have_absolute_addresses(void **state)
{
    (void)state;
    skip_in_other_byte_order();
    const unsigned char expected[] = {
        20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x00,
        0x0c, 7, 8, 0x90, 1, 0, 0,
        24, 0, 0, 0, 28, 0, 0, 0,
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0};
    const struct jitdump_unwind leaf = {.struct_size = sizeof(leaf)};
    const struct jitdump_code code = code_with(&leaf, 5);
    unsigned char written[sizeof(expected) + 1];
    memset(written, 0xee, sizeof(written));
    uint64_t size = 7;
    assert_int_equal(jitdump_unwind_eh_frame(EM_X86_64, &code, NULL, 0, &size),
                     JITDUMP_ERROR_UNWIND_CAPACITY);
    assert_int_equal(size, sizeof(expected));
    size = 7;
    assert_int_equal(jitdump_unwind_eh_frame(EM_X86_64, &code, written, sizeof(expected) - 1, &size),
                     JITDUMP_ERROR_UNWIND_CAPACITY);
    assert_int_equal(size, sizeof(expected));
    assert_int_equal(written[0], 0xee);
    assert_int_equal(jitdump_unwind_eh_frame(EM_X86_64, &code, written, sizeof(expected), &size),
                     0);
    assert_int_equal(size, sizeof(expected));
    assert_memory_equal(written, expected, sizeof(expected));
    assert_int_equal(written[sizeof(expected)], 0xee);
}

/* The instructions of the FDE that `steps` make: a description's bytes without the rest. */
struct instructions {
    unsigned char bytes[128];
    uint64_t size;
};

enum { CODE_SIZE = 0x200000 };

static struct instructions instructions_of(uint32_t elf_mach,
                                           const struct jitdump_unwind_step *steps, size_t count)
{
    const struct jitdump_unwind unwind = {
        .struct_size = sizeof(unwind), .steps = steps, .step_count = count};
    const struct jitdump_code code = code_with(&unwind, CODE_SIZE);
    unsigned char written[256];
    struct unwind_size size;
    assert_int_equal(jd_unwind_check(&code, elf_mach, NULL, &size), 0);
    assert_true(size.eh_frame + size.eh_frame_hdr <= sizeof(written));
    jd_unwind_write(written, elf_mach, NULL, &code);

    uint32_t cie_length, fde_length;
    memcpy(&cie_length, written, 4);
    memcpy(&fde_length, written + 4 + cie_length, 4);
    struct instructions instructions = {.size = fde_length - 13};
    memcpy(instructions.bytes, written + 4 + cie_length + 17, (size_t)instructions.size);
    return instructions;
}

#define ASSERT_INSTRUCTIONS(elf_mach, steps, ...)                                                  \
    do {                                                                                           \
        const unsigned char expected[] = {__VA_ARGS__};                                            \
        const struct instructions found =                                                          \
            instructions_of(elf_mach, steps, sizeof(steps) / sizeof(steps[0]));                    \
        assert_in_range(found.size, sizeof(expected), sizeof(expected) + 3);                       \
        assert_memory_equal(found.bytes, expected, sizeof(expected));                              \
        for (uint64_t i = sizeof(expected); i < found.size; i++)                                   \
            assert_int_equal(found.bytes[i], 0);                                                   \
    } while (0)

static void offsets_take_the_shortest_form(void **state)
{
    (void)state;
    skip_in_other_byte_order();
    const struct jitdump_unwind_step steps[] = {
        {0x3f, JITDUMP_UNWIND_DEF_CFA, JITDUMP_X86_64_RSP, 16},
        {0x3f + 0x40, JITDUMP_UNWIND_DEF_CFA, JITDUMP_X86_64_RSP, 128},
        {0x7f + 0xff, JITDUMP_UNWIND_OFFSET, JITDUMP_X86_64_RBX, -128 * 8},
        {0x17e + 0x100, JITDUMP_UNWIND_DEF_CFA, JITDUMP_X86_64_RBP, 128},
        {0x27e + 0xffff, JITDUMP_UNWIND_DEF_CFA, JITDUMP_X86_64_R15, INT32_MAX},
        {0x1027d + 0x10000, JITDUMP_UNWIND_RESTORE, JITDUMP_X86_64_RBX, 0}};
    ASSERT_INSTRUCTIONS(EM_X86_64, steps, 0x7f, 0x0e, 16, 0x02, 0x40, 0x0e, 0x80, 1, 0x02, 0xff,
                        0x83, 0x80, 1, 0x03, 0, 1, 0x0d, 6, 0x03, 0xff, 0xff, 0x0c, 15, 0xff, 0xff,
                        0xff, 0xff, 7, 0x04, 0, 0, 1, 0, 0xc3);
}

static void what_changes_nothing_takes_no_bytes(void **state)
{
    (void)state;
    const struct jitdump_unwind_step steps[] = {
        {1, JITDUMP_UNWIND_DEF_CFA, JITDUMP_X86_64_RSP, 8},
        {2, JITDUMP_UNWIND_FRAME_NONE, 0, 0},
        {3, JITDUMP_UNWIND_RESTORE, JITDUMP_X86_64_RA, 0},
        {4, JITDUMP_UNWIND_DEF_CFA, JITDUMP_X86_64_RSP, 16}};
    ASSERT_INSTRUCTIONS(EM_X86_64, steps, 0x44, 0x0e, 16);
}

/* Whatever was said of the return address: where the frame is set, the call has pushed it. */
static void a_frame_that_is_set_has_its_return_address(void **state)
{
    (void)state;
    const struct jitdump_unwind_step steps[] = {
        {0, JITDUMP_UNWIND_OFFSET, JITDUMP_X86_64_RA, -64},
        {4, JITDUMP_UNWIND_FRAME_SET, 0, 0},
    };
    ASSERT_INSTRUCTIONS(EM_X86_64, steps, 0x90, 8, /* offset ra -64 */
                        0x44, 0x0c, 6, 16, 0x86, 2, 0xd0 /* def_cfa rbp 16; rbp -16; restore ra */);
}

static void a_restored_state_is_taken_for_unknown(void **state)
{
    (void)state;
    /* Behind RESTORE_STATE the CFA is said in full, and rbx, which is not saved there, and rbp,
     * which is, are both restored. */
    const struct jitdump_unwind_step steps[] = {
        {1, JITDUMP_UNWIND_OFFSET, JITDUMP_X86_64_RBP, -16},
        {2, JITDUMP_UNWIND_REMEMBER_STATE, 0, 0},
        {2, JITDUMP_UNWIND_OFFSET, JITDUMP_X86_64_RBX, -24},
        {3, JITDUMP_UNWIND_RESTORE, JITDUMP_X86_64_RBX, 0},
        {3, JITDUMP_UNWIND_RESTORE, JITDUMP_X86_64_RBP, 0},
        {4, JITDUMP_UNWIND_RESTORE_STATE, 0, 0},
        {5, JITDUMP_UNWIND_FRAME_NONE, 0, 0}};
    ASSERT_INSTRUCTIONS(EM_X86_64, steps, 0x41, 0x86, 2, 0x41, 0x0a, 0x83, 3, 0x41, 0xc3, 0xc6,
                        0x41, 0x0b, 0x41, 0x0c, 7, 8, 0xc3, 0xc6);
}

static void floating_point_registers_take_the_extended_form(void **state)
{
    (void)state;
    const struct jitdump_unwind_step steps[] = {
        {0, JITDUMP_UNWIND_OFFSET, JITDUMP_AARCH64_V8, -24},
        {0, JITDUMP_UNWIND_OFFSET, JITDUMP_AARCH64_X19, -32},
        {4, JITDUMP_UNWIND_FRAME_NONE, 0, 0}};
    ASSERT_INSTRUCTIONS(EM_AARCH64, steps, 0x05, 72, 3, 0x80 | 19, 4, 0x44, 0xc0 | 19, 0x06, 72);
}

static int size_error(uint32_t elf_mach, const struct jitdump_unwind *unwind, uint64_t code_size)
{
    const struct jitdump_code code = code_with(unwind, code_size);
    struct unwind_size size = {1, 1};
    const int error = jd_unwind_check(&code, elf_mach, NULL, &size);
    if (error != 0)
        assert_true(size.eh_frame == 0 && size.eh_frame_hdr == 0);
    return error;
}

static int step_error(uint32_t elf_mach, const struct jitdump_unwind_step *step)
{
    const struct jitdump_unwind unwind = {
        .struct_size = sizeof(unwind), .steps = step, .step_count = 1};
    return size_error(elf_mach, &unwind, 100);
}

static void a_step_is_of_a_known_op_and_in_the_code(void **state)
{
    (void)state;
    struct jitdump_unwind_step step = {100, JITDUMP_UNWIND_REMEMBER_STATE, 99, -3};
    assert_int_equal(step_error(EM_X86_64, &step), 0);
    step.code_offset = 101;
    assert_int_equal(step_error(EM_X86_64, &step), JITDUMP_ERROR_UNWIND_STEP_RANGE);
    step = (struct jitdump_unwind_step){.op = 0};
    assert_int_equal(step_error(EM_X86_64, &step), JITDUMP_ERROR_UNWIND_STEP_OP);
    step.op = JITDUMP_UNWIND_FRAME_SET + 1;
    assert_int_equal(step_error(EM_X86_64, &step), JITDUMP_ERROR_UNWIND_STEP_OP);
    step.op = JITDUMP_UNWIND_RESTORE_STATE;
    assert_int_equal(step_error(EM_X86_64, &step), JITDUMP_ERROR_UNWIND_STEP_STATE);

    const struct jitdump_unwind_step twice[] = {{10, JITDUMP_UNWIND_REMEMBER_STATE, 0, 0},
                                                {20, JITDUMP_UNWIND_RESTORE_STATE, 0, 0},
                                                {20, JITDUMP_UNWIND_RESTORE_STATE, 0, 0}};
    struct jitdump_unwind unwind = {
        .struct_size = sizeof(unwind), .steps = twice, .step_count = 2};
    assert_int_equal(size_error(EM_X86_64, &unwind, 100), 0);
    unwind.step_count = 3;
    assert_int_equal(size_error(EM_X86_64, &unwind, 100), JITDUMP_ERROR_UNWIND_STEP_STATE);

    const struct jitdump_unwind_step back[] = {{10, JITDUMP_UNWIND_FRAME_NONE, 0, 0},
                                               {10, JITDUMP_UNWIND_FRAME_NONE, 0, 0},
                                               {9, JITDUMP_UNWIND_FRAME_NONE, 0, 0}};
    unwind.steps = back;
    unwind.step_count = 2;
    assert_int_equal(size_error(EM_X86_64, &unwind, 100), 0);
    unwind.step_count = 3;
    assert_int_equal(size_error(EM_X86_64, &unwind, 100), JITDUMP_ERROR_UNWIND_STEP_ORDER);
}

/* Whether DEF_CFA and OFFSET take the register. RESTORE takes what OFFSET does. */
static void assert_register(uint32_t elf_mach, uint32_t reg, int cfa, int saved)
{
    struct jitdump_unwind_step step = {0, JITDUMP_UNWIND_DEF_CFA, reg, 0};
    assert_int_equal(step_error(elf_mach, &step), cfa ? 0 : JITDUMP_ERROR_UNWIND_STEP_REGISTER);
    step = (struct jitdump_unwind_step){0, JITDUMP_UNWIND_OFFSET, reg, -8};
    assert_int_equal(step_error(elf_mach, &step), saved ? 0 : JITDUMP_ERROR_UNWIND_STEP_REGISTER);
    step.op = JITDUMP_UNWIND_RESTORE;
    assert_int_equal(step_error(elf_mach, &step), saved ? 0 : JITDUMP_ERROR_UNWIND_STEP_REGISTER);
}

static void registers_are_those_of_the_machine(void **state)
{
    (void)state;
    for (uint32_t reg = 0; reg < 200; reg++) {
        assert_register(EM_X86_64, reg, reg <= 15, reg <= 16);
        assert_register(EM_AARCH64, reg, reg <= 31, reg <= 31 || (reg >= 64 && reg <= 95));
        assert_register(EM_RISCV, reg, reg >= 1 && reg <= 31, reg >= 1 && reg <= 63);
    }
    assert_register(EM_X86_64, UINT32_MAX, 0, 0);
}

static void offsets_can_be_encoded(void **state)
{
    (void)state;
    static const struct {
        uint32_t op;
        int64_t offset;
        int good;
    } cases[] = {
        {JITDUMP_UNWIND_DEF_CFA, 0, 1},          {JITDUMP_UNWIND_DEF_CFA, -1, 0},
        {JITDUMP_UNWIND_DEF_CFA, INT32_MAX, 1},  {JITDUMP_UNWIND_DEF_CFA, INT64_C(1) << 31, 0},
        {JITDUMP_UNWIND_DEF_CFA, INT64_MIN, 0},  {JITDUMP_UNWIND_OFFSET, -8, 1},
        {JITDUMP_UNWIND_OFFSET, 0, 0},           {JITDUMP_UNWIND_OFFSET, 8, 0},
        {JITDUMP_UNWIND_OFFSET, -12, 0},         {JITDUMP_UNWIND_OFFSET, INT32_MIN, 1},
        {JITDUMP_UNWIND_OFFSET, INT32_MIN - INT64_C(8), 0}, {JITDUMP_UNWIND_OFFSET, INT64_MIN, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct jitdump_unwind_step step = {0, cases[i].op, 1, cases[i].offset};
        assert_int_equal(step_error(EM_X86_64, &step),
                         cases[i].good ? 0 : JITDUMP_ERROR_UNWIND_STEP_OFFSET);
    }
}

static void the_standard_frame_fits_into_the_code(void **state)
{
    (void)state;
    static const struct {
        uint32_t elf_mach;
        uint64_t prologue;
        uint64_t epilogue;
    } frames[] = {{EM_X86_64, 4, 1}, {EM_AARCH64, 8, 4}, {EM_RISCV, 16, 8}};
    for (size_t i = 0; i < 3; i++) {
        const uint32_t elf_mach = frames[i].elf_mach;
        const uint64_t smallest = frames[i].prologue + frames[i].epilogue;
        assert_int_equal(size_error(elf_mach, &standard, smallest), 0);
        assert_int_equal(size_error(elf_mach, &standard, smallest - 1), JITDUMP_ERROR_UNWIND_FRAME);
        assert_int_equal(size_error(elf_mach, &standard, 0), JITDUMP_ERROR_UNWIND_FRAME);

        /* Steps have their place between. */
        struct jitdump_unwind_step step = {.op = JITDUMP_UNWIND_REMEMBER_STATE};
        const struct jitdump_unwind unwind = {.struct_size = sizeof(unwind),
                                              .frame = JITDUMP_FRAME_POINTER,
                                              .steps = &step,
                                              .step_count = 1};
        step.code_offset = frames[i].prologue;
        assert_int_equal(size_error(elf_mach, &unwind, 100), 0);
        step.code_offset--;
        assert_int_equal(size_error(elf_mach, &unwind, 100), JITDUMP_ERROR_UNWIND_STEP_RANGE);
        step.code_offset = 100 - frames[i].epilogue;
        assert_int_equal(size_error(elf_mach, &unwind, 100), 0);
        step.code_offset++;
        assert_int_equal(size_error(elf_mach, &unwind, 100), JITDUMP_ERROR_UNWIND_STEP_RANGE);
    }
}

static void a_description_is_whole_and_the_only_one(void **state)
{
    (void)state;
    struct jitdump_unwind unwind = standard;
    unwind.struct_size--;
    assert_int_equal(size_error(EM_X86_64, &unwind, 100), JITDUMP_ERROR_STRUCT_SIZE);
    unwind = standard;
    unwind.frame = JITDUMP_FRAME_POINTER + 1;
    assert_int_equal(size_error(EM_X86_64, &unwind, 100), JITDUMP_ERROR_UNWIND_FRAME);
    unwind = standard;
    unwind.step_count = 1;
    assert_int_equal(size_error(EM_X86_64, &unwind, 100), JITDUMP_ERROR_UNWIND_STEPS_MISSING);
    assert_int_equal(size_error(EM_ARM, &standard, 100), JITDUMP_ERROR_UNWIND_MACHINE);
    assert_int_equal(size_error(EM_ARM, NULL, 100), 0);

    struct jitdump_code code = code_with(&standard, 100);
    code.eh_frame_size = 1;
    struct unwind_size size;
    assert_int_equal(jd_unwind_check(&code, EM_X86_64, NULL, &size), JITDUMP_ERROR_UNWIND_TWICE);
    code = code_with(&standard, 100);
    code.eh_frame_hdr = "";
    assert_int_equal(jd_unwind_check(&code, EM_X86_64, NULL, &size), JITDUMP_ERROR_UNWIND_TWICE);
}

static void code_and_data_together_are_below_2_gib(void **state)
{
    (void)state;
    const struct jitdump_unwind leaf = {.struct_size = sizeof(leaf)};
    /* A CIE of 24, an FDE of 20, a terminator and a header of 20. */
    const uint64_t largest = (JITDUMP_CODE_SIZE_MAX - 68) / 8 * 8;
    assert_int_equal(size_error(EM_X86_64, &leaf, largest), 0);
    assert_int_equal(size_error(EM_X86_64, &leaf, largest + 1), JITDUMP_ERROR_UNWIND_SIZE);
}

static void the_room_behind_the_code(void **state)
{
    struct jitdump_options options = {.struct_size = sizeof(options), .directory = *state};
    options.elf_mach = EM_X86_64;
    struct jitdump *dump;
    assert_int_equal(jitdump_open(&dump, &options), 0);

    struct jitdump_code code = code_with(&standard, 13);
    uint64_t size = 7;
    assert_int_equal(jitdump_unwind_size(dump, &code, &size), 0);
    assert_int_equal(size, 3 + 60 + 20);
    code.code_size = 16;
    assert_int_equal(jitdump_unwind_size(dump, &code, &size), 0);
    assert_int_equal(size, 60 + 20);
    code = code_with(NULL, 13);
    assert_int_equal(jitdump_unwind_size(dump, &code, &size), 0);
    assert_int_equal(size, 0);
    code.eh_frame = code.eh_frame_hdr = "";
    code.eh_frame_size = code.eh_frame_hdr_size = 21;
    assert_int_equal(jitdump_unwind_size(dump, &code, &size), 0);
    assert_int_equal(size, 3 + 42);

    size = 7;
    assert_int_equal(jitdump_unwind_size(NULL, NULL, &size), 0);
    assert_int_equal(size, 0);
    assert_int_equal(jitdump_unwind_size(dump, &code, NULL), JITDUMP_ERROR_ARGUMENT);
    size = 7;
    assert_int_equal(jitdump_unwind_size(dump, NULL, &size), JITDUMP_ERROR_ARGUMENT);
    assert_int_equal(size, 0);
    code = code_with(&standard, JITDUMP_CODE_SIZE_MAX + 1);
    assert_int_equal(jitdump_unwind_size(dump, &code, &size), JITDUMP_ERROR_CODE_SIZE);
    code = code_with(&standard, 2);
    assert_int_equal(jitdump_unwind_size(dump, &code, &size), JITDUMP_ERROR_UNWIND_FRAME);
    code.struct_size++;
    assert_int_equal(jitdump_unwind_size(dump, &code, &size), JITDUMP_ERROR_STRUCT_SIZE);
    assert_int_equal(jitdump_close(dump), 0);
}

static void a_bad_description_appends_nothing(void **state)
{
    struct jitdump_options options = {.struct_size = sizeof(options), .directory = *state};
    options.elf_mach = EM_X86_64;
    struct jitdump *dump;
    assert_int_equal(jitdump_open(&dump, &options), 0);
    struct jitdump_code code = code_with(&standard, 2);
    code.code_bytes = "";
    uint64_t index = 7;
    assert_int_equal(jitdump_load(dump, &code, &index), JITDUMP_ERROR_UNWIND_FRAME);
    assert_int_equal(index, 0);
    assert_int_equal(jitdump_flush(dump), 0);
    struct contents contents = read_file(jitdump_path(dump));
    assert_int_equal(contents.size, 40); /* the header */
    free(contents.bytes);

    /* The dump is usable, and the record of the description follows the header. */
    const unsigned char bytes[6] = {0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3};
    code.code_size = sizeof(bytes);
    code.code_bytes = bytes;
    assert_int_equal(jitdump_load(dump, &code, &index), 0);
    contents = read_file(jitdump_path(dump));
    assert_int_equal(contents.size, 40 + 40 + 60 + 20 + 56 + 2 + 6);
    const struct {
        uint64_t unwind_data_size, eh_frame_hdr_size, mapped_size;
    } sizes = {80, 20, 80};
    assert_memory_equal(contents.bytes + 40 + 16, &sizes, sizeof(sizes));
    free(contents.bytes);
    assert_int_equal(jitdump_close(dump), 0);
}

static void the_bytes_alone_need_all_arguments(void **state)
{
    (void)state;
    const int of_the_build = BUILD_ELF_MACH == EM_X86_64 || BUILD_ELF_MACH == EM_AARCH64 ||
                                     BUILD_ELF_MACH == EM_RISCV
                                 ? 0
                                 : JITDUMP_ERROR_UNWIND_MACHINE;
    unsigned char written[100];
    uint64_t size;
    struct jitdump_code code = code_with(&standard, 100);
    assert_int_equal(jitdump_unwind_eh_frame(BUILD_ELF_MACH, &code, written, sizeof(written), &size),
                     of_the_build);
    assert_int_equal(jitdump_unwind_eh_frame(0, &code, written, sizeof(written), &size),
                     of_the_build);
    assert_int_equal(jitdump_unwind_eh_frame(EM_X86_64, &code, written, sizeof(written), NULL),
                     JITDUMP_ERROR_ARGUMENT);
    size = 7;
    assert_int_equal(jitdump_unwind_eh_frame(EM_X86_64, &code, NULL, 1, &size), JITDUMP_ERROR_ARGUMENT);
    assert_int_equal(size, 0);
    assert_int_equal(jitdump_unwind_eh_frame(EM_X86_64, NULL, written, sizeof(written), &size),
                     JITDUMP_ERROR_ARGUMENT);
    assert_int_equal(jitdump_unwind_eh_frame(EM_ARM, &code, written, sizeof(written), &size),
                     JITDUMP_ERROR_UNWIND_MACHINE);
    code.unwind = NULL;
    assert_int_equal(jitdump_unwind_eh_frame(EM_X86_64, &code, written, sizeof(written), &size),
                     JITDUMP_ERROR_ARGUMENT);
    code = code_with(&standard, 2);
    assert_int_equal(jitdump_unwind_eh_frame(EM_X86_64, &code, written, sizeof(written), &size),
                     JITDUMP_ERROR_UNWIND_FRAME);
    code = code_with(&standard, 100);
    code.code_addr = UINT64_MAX - 99;
    assert_int_equal(jitdump_unwind_eh_frame(EM_X86_64, &code, written, sizeof(written), &size),
                     JITDUMP_ERROR_CODE_ADDR);
    code.struct_size++;
    assert_int_equal(jitdump_unwind_eh_frame(EM_X86_64, &code, written, sizeof(written), &size),
                     JITDUMP_ERROR_STRUCT_SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_standard_frame_of_x86_64),
        cmocka_unit_test(the_bytes_alone_have_absolute_addresses),
        cmocka_unit_test(offsets_take_the_shortest_form),
        cmocka_unit_test(what_changes_nothing_takes_no_bytes),
        cmocka_unit_test(a_frame_that_is_set_has_its_return_address),
        cmocka_unit_test(a_restored_state_is_taken_for_unknown),
        cmocka_unit_test(floating_point_registers_take_the_extended_form),
        cmocka_unit_test(a_step_is_of_a_known_op_and_in_the_code),
        cmocka_unit_test(registers_are_those_of_the_machine),
        cmocka_unit_test(offsets_can_be_encoded),
        cmocka_unit_test(the_standard_frame_fits_into_the_code),
        cmocka_unit_test(a_description_is_whole_and_the_only_one),
        cmocka_unit_test(code_and_data_together_are_below_2_gib),
        unit_test_in_directory(the_room_behind_the_code),
        unit_test_in_directory(a_bad_description_appends_nothing),
        cmocka_unit_test(the_bytes_alone_need_all_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
