/* The encoders: every byte of each record, and every refusal. The expected bytes are laid
 * out here from the specification, without the library's structures. */
#define _GNU_SOURCE
#include "expected.h"
#include "temporary.h"

#include "encode/function_records.h"
#include "encode/record.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct record_stamp stamp = {.timestamp = 0x1122334455667788,
                                          .code_index = 0x99,
                                          .pid = 0x1001,
                                          .tid = 0x1002,
                                          .elf_mach = EM_X86_64};

static const struct jitdump_line lines[] = {{0x40000, 7, 3, "src/a.js"},
                                            {0x40004, 8, 0, "src/a.js"},
                                            {0x4000f, 2, 1, "b"}};
static const char eh_frame[32] = "the frame, and it is long enough";
static const char eh_frame_hdr[20] = "the header";

static struct jitdump_code full_code(void)
{
    return (struct jitdump_code){.struct_size = sizeof(struct jitdump_code),
                                 .name = "JS:*add",
                                 .code_addr = 0x40000,
                                 .code_size = 16,
                                 .lines = lines,
                                 .line_count = 3,
                                 .eh_frame = eh_frame,
                                 .eh_frame_size = sizeof(eh_frame),
                                 .eh_frame_hdr = eh_frame_hdr,
                                 .eh_frame_hdr_size = sizeof(eh_frame_hdr)};
}

static void expect_load(struct expected *expected, uint64_t code_size)
{
    u32(expected, 0);
    u32(expected, (uint32_t)(16 + 40 + 8 + code_size));
    u64(expected, stamp.timestamp);
    u32(expected, stamp.pid);
    u32(expected, stamp.tid);
    u64(expected, 0x40000);
    u64(expected, 0x40000);
    u64(expected, code_size);
    u64(expected, stamp.code_index);
    bytes(expected, "JS:*add", 8);
}

static void expect_entry(struct expected *expected, uint64_t code_addr, uint32_t line,
                         uint32_t discrim, const char *file)
{
    u64(expected, code_addr);
    u32(expected, line);
    u32(expected, discrim);
    bytes(expected, file, strlen(file) + 1);
}

static const struct debug_info_settings settings = {.track = "", .strict = true};
static const struct tiers no_tiers;

static void assert_code(const struct jitdump_code *code, const struct expected *expected)
{
    struct function_records record = {.code = code, .elf_mach = stamp.elf_mach, .settings = &settings,
                                 .tiers = &no_tiers};
    unsigned char written[1024];
    memset(written, 0xee, sizeof(written));
    uint64_t head_size = 0;
    assert_int_equal(jd_function_records_check(&record, &head_size), 0);
    assert_int_equal(head_size, expected->size);
    assert_ptr_equal(jd_function_records_write(written, &stamp, &record), written + head_size);
    assert_memory_equal(written, expected->bytes, expected->size);
    assert_int_equal(written[head_size], 0xee);
}

static void a_whole_group(void **state)
{
    (void)state;
    struct expected expected = {.size = 0};
    /* Three entries and the one that closes the table. */
    u32(&expected, 2);
    u32(&expected, 32 + 4 * 16 + 9 + 9 + 2 + 2);
    u64(&expected, stamp.timestamp);
    u64(&expected, 0x40000);
    u64(&expected, 4);
    expect_entry(&expected, 0x40000, 7, 3, "src/a.js");
    expect_entry(&expected, 0x40004, 8, 0, "src/a.js");
    expect_entry(&expected, 0x4000f, 2, 1, "b");
    expect_entry(&expected, 0x40010, 2, 1, "b");
    /* The frame first, its header last; mapped_size not 0. */
    u32(&expected, 4);
    u32(&expected, 40 + 52);
    u64(&expected, stamp.timestamp);
    u64(&expected, 52);
    u64(&expected, 20);
    u64(&expected, 52);
    bytes(&expected, eh_frame, sizeof(eh_frame));
    bytes(&expected, eh_frame_hdr, sizeof(eh_frame_hdr));
    expect_load(&expected, 16);

    const struct jitdump_code code = full_code();
    assert_code(&code, &expected);
}

static void a_load_alone_and_one_without_code(void **state)
{
    (void)state;
    struct jitdump_code code = full_code();
    code.lines = NULL;
    code.line_count = 0;
    code.eh_frame = code.eh_frame_hdr = NULL;
    code.eh_frame_size = code.eh_frame_hdr_size = 0;
    struct expected expected = {.size = 0};
    expect_load(&expected, 16);
    assert_code(&code, &expected);

    code.code_size = 0;
    expected.size = 0;
    expect_load(&expected, 0);
    assert_code(&code, &expected);
}

static void a_move(void **state)
{
    (void)state;
    const struct record_move move = {
        .code_index = 5, .old_code_addr = 0x100, .new_code_addr = 0x900, .code_size = 0x20};
    struct expected expected = {.size = 0};
    u32(&expected, 1);
    u32(&expected, 64);
    u64(&expected, stamp.timestamp);
    u32(&expected, stamp.pid);
    u32(&expected, stamp.tid);
    u64(&expected, 0x900);
    u64(&expected, 0x100);
    u64(&expected, 0x900);
    u64(&expected, 0x20);
    u64(&expected, 5);
    unsigned char written[64];
    assert_int_equal(jd_record_move_check(&move), 0);
    assert_ptr_equal(jd_record_move_write(written, &stamp, &move), written + 64);
    assert_memory_equal(written, expected.bytes, 64);
}

static void a_raw_record_and_the_last_one(void **state)
{
    (void)state;
    const struct record_raw raw = {.id = 827346259, .payload_size = 100};
    struct expected expected = {.size = 0};
    u32(&expected, 827346259);
    u32(&expected, 116);
    u64(&expected, stamp.timestamp);
    unsigned char written[16];
    assert_int_equal(jd_record_raw_check(&raw), 0);
    assert_ptr_equal(jd_record_raw_write(written, &stamp, &raw), written + 16);
    assert_memory_equal(written, expected.bytes, 16);

    expected.size = 0;
    u32(&expected, 3);
    u32(&expected, 16);
    u64(&expected, stamp.timestamp);
    assert_ptr_equal(jd_record_close_write(written, &stamp, NULL), written + 16);
    assert_memory_equal(written, expected.bytes, 16);
}

static int check(const struct jitdump_code *code)
{
    struct function_records record = {.code = code, .elf_mach = stamp.elf_mach, .settings = &settings,
                                 .tiers = &no_tiers};
    uint64_t head_size;
    return jd_function_records_check(&record, &head_size);
}

static void a_function_must_have_a_name_and_code(void **state)
{
    (void)state;
    struct jitdump_code code = full_code();
    code.name = NULL;
    assert_int_equal(check(&code), JITDUMP_ERROR_NAME_MISSING);
    code.name = "";
    assert_int_equal(check(&code), JITDUMP_ERROR_NAME_MISSING);

    code = (struct jitdump_code){.name = "f", .code_size = 1};
    assert_int_equal(check(&code), JITDUMP_ERROR_CODE_MISSING);
    code.code_bytes = "c";
    assert_int_equal(check(&code), 0);

    code.code_size = JITDUMP_CODE_SIZE_MAX;
    assert_int_equal(check(&code), 0);
    code.code_size = JITDUMP_CODE_SIZE_MAX + 1;
    assert_int_equal(check(&code), JITDUMP_ERROR_CODE_SIZE);
    code.code_size = UINT64_MAX;
    assert_int_equal(check(&code), JITDUMP_ERROR_CODE_SIZE);

    code.code_size = 16;
    code.code_addr = UINT64_MAX - 16;
    assert_int_equal(check(&code), 0);
    code.code_addr = UINT64_MAX - 15;
    assert_int_equal(check(&code), JITDUMP_ERROR_CODE_ADDR);
    /* Where pointers have 32 bits, no bytes can be read at such addresses. */
    code.code_bytes = NULL;
    code.code_addr = UINTPTR_MAX - 16;
    assert_int_equal(check(&code), 0);
    code.code_addr++;
    assert_int_equal(check(&code), JITDUMP_ERROR_CODE_ADDR);
}

/* Enough for a name that makes a record too large. */
static const size_t NAME_SIZE = (size_t)3 << 30;

static void a_record_is_at_most_4_gib(void **state)
{
    (void)state;
    if (sizeof(size_t) < sizeof(uint64_t)) {
        print_message("skipped: a 32-bit process has no room for that\n");
        skip();
    }
    /* 2 GiB of name and 2 GiB of code: just too much, and just not. */
    const size_t size = (size_t)UINT32_MAX - 56 - 1 - JITDUMP_CODE_SIZE_MAX;
    char *name = map_repeated(NAME_SIZE);
    memset(name, 'n', REPEATED_SIZE);
    struct jitdump_code code = {
        .name = name, .code_addr = 1, .code_size = JITDUMP_CODE_SIZE_MAX};
    name[size + 1] = '\0';
    assert_int_equal(check(&code), JITDUMP_ERROR_RECORD_SIZE);
    name[size] = '\0';
    assert_int_equal(check(&code), 0);

    /* A line table of more than 4 GiB: 5000 entries whose file names have 1 MiB each. */
    char *file = name;
    file[1 << 20] = '\0';
    struct jitdump_line *table = calloc(5000, sizeof(*table));
    assert_non_null(table);
    for (uint64_t i = 0; i < 5000; i++)
        table[i] = (struct jitdump_line){i + 1, 1, 1, file};
    code = (struct jitdump_code){.name = "f", .code_addr = 1, .code_size = 5000, .lines = table};
    code.line_count = 5000;
    assert_int_equal(check(&code), JITDUMP_ERROR_RECORD_SIZE);
    /* 4095 fit, but then the closing entry, of a mebibyte too, does not. */
    code.line_count = 4095;
    assert_int_equal(check(&code), JITDUMP_ERROR_RECORD_SIZE);
    code.line_count = 4094;
    assert_int_equal(check(&code), 0);
    free(table);
    munmap(name, NAME_SIZE);
}

static void lines_ascend_inside_the_code_and_are_whole(void **state)
{
    (void)state;
    struct jitdump_line table[3];
    struct jitdump_code code = full_code();
    code.lines = table;
#define CHECK_LINES(error, change)                                                                 \
    do {                                                                                           \
        memcpy(table, lines, sizeof(table));                                                       \
        change;                                                                                    \
        assert_int_equal(check(&code), error);                                                     \
    } while (0)
    CHECK_LINES(0, (void)0);
    CHECK_LINES(JITDUMP_ERROR_LINES_ORDER, table[1].code_addr = 0x40000);
    CHECK_LINES(JITDUMP_ERROR_LINES_ORDER, table[2].code_addr = 0x40003);
    CHECK_LINES(JITDUMP_ERROR_LINES_RANGE, table[0].code_addr = 0x3ffff);
    CHECK_LINES(JITDUMP_ERROR_LINES_RANGE, table[2].code_addr = 0x40010);
    CHECK_LINES(JITDUMP_ERROR_LINE_NUMBER, table[2].line = 0);
    CHECK_LINES(JITDUMP_ERROR_LINE_FILE, table[0].file = NULL);
    CHECK_LINES(JITDUMP_ERROR_LINE_FILE, table[1].file = "");
#undef CHECK_LINES
    code.lines = NULL;
    assert_int_equal(check(&code), JITDUMP_ERROR_LINES_MISSING);
    /* A function without code has no place for a line. */
    code.lines = lines;
    code.line_count = 1;
    code.code_size = 0;
    assert_int_equal(check(&code), JITDUMP_ERROR_LINES_RANGE);
}

static void unwinding_data_is_whole_and_of_sane_size(void **state)
{
    (void)state;
    struct jitdump_code code = full_code();
    code.eh_frame = NULL;
    assert_int_equal(check(&code), JITDUMP_ERROR_UNWIND_EMPTY);
    code = full_code();
    code.eh_frame_size = 0;
    assert_int_equal(check(&code), JITDUMP_ERROR_UNWIND_EMPTY);
    code = full_code();
    code.eh_frame_hdr = NULL;
    assert_int_equal(check(&code), JITDUMP_ERROR_UNWIND_EMPTY);
    code = full_code();
    code.eh_frame_hdr_size = 0;
    assert_int_equal(check(&code), JITDUMP_ERROR_UNWIND_EMPTY);
    code = full_code();
    code.eh_frame_hdr_size = code.eh_frame_size + 1;
    assert_int_equal(check(&code), JITDUMP_ERROR_UNWIND_HEADER_SIZE);
    code = full_code();
    code.eh_frame_size = JITDUMP_CODE_SIZE_MAX - code.eh_frame_hdr_size;
    assert_int_equal(check(&code), 0);
    code.eh_frame_size++;
    assert_int_equal(check(&code), JITDUMP_ERROR_UNWIND_SIZE);
    code.eh_frame_size = UINT64_MAX;
    assert_int_equal(check(&code), JITDUMP_ERROR_UNWIND_SIZE);
}

static void a_move_needs_an_index_and_a_range(void **state)
{
    (void)state;
    struct record_move move = {0, 0x100, 0x900, 0x20};
    assert_int_equal(jd_record_move_check(&move), JITDUMP_ERROR_CODE_INDEX);
    move.code_index = 1;
    move.code_size = JITDUMP_CODE_SIZE_MAX + 1;
    assert_int_equal(jd_record_move_check(&move), JITDUMP_ERROR_CODE_SIZE);
    move.code_size = 0x20;
    move.new_code_addr = UINT64_MAX;
    assert_int_equal(jd_record_move_check(&move), JITDUMP_ERROR_CODE_ADDR);
    move.new_code_addr = 0;
    move.old_code_addr = UINT64_MAX;
    assert_int_equal(jd_record_move_check(&move), JITDUMP_ERROR_CODE_ADDR);
}

static void a_raw_record_has_a_foreign_id_and_a_payload(void **state)
{
    (void)state;
    for (uint32_t id = 0; id <= 4; id++) {
        const struct record_raw raw = {id, 1};
        assert_int_equal(jd_record_raw_check(&raw), JITDUMP_ERROR_RECORD_ID);
    }
    struct record_raw raw = {5, 0};
    assert_int_equal(jd_record_raw_check(&raw), JITDUMP_ERROR_RECORD_EMPTY);
    raw.payload_size = UINT32_MAX - 16;
    assert_int_equal(jd_record_raw_check(&raw), 0);
    raw.payload_size++;
    assert_int_equal(jd_record_raw_check(&raw), JITDUMP_ERROR_RECORD_SIZE);
}

/* With an argument: what takes an emulator minutes. */
int main(int argc, char **argv)
{
    (void)argv;
    const struct CMUnitTest large[] = {
        cmocka_unit_test(a_record_is_at_most_4_gib),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_group),
        cmocka_unit_test(a_load_alone_and_one_without_code),
        cmocka_unit_test(a_move),
        cmocka_unit_test(a_raw_record_and_the_last_one),
        cmocka_unit_test(a_function_must_have_a_name_and_code),
        cmocka_unit_test(lines_ascend_inside_the_code_and_are_whole),
        cmocka_unit_test(unwinding_data_is_whole_and_of_sane_size),
        cmocka_unit_test(a_move_needs_an_index_and_a_range),
        cmocka_unit_test(a_raw_record_has_a_foreign_id_and_a_payload),
    };
    return argc > 1 ? cmocka_run_group_tests(large, NULL, NULL)
                    : cmocka_run_group_tests(tests, NULL, NULL);
}
