/* The public API on a real file. What the file's bytes mean is checked by the reader of the
 * stress tests and by the profilers; here it is what each call returns and changes. */
#define _GNU_SOURCE
#include "api_case.h"

static void a_null_handle_does_nothing(void **state)
{
    (void)state;
    uint64_t index = 7;
    assert_int_equal(jitdump_load(NULL, NULL, &index), 0);
    assert_int_equal(index, 0);
    assert_int_equal(jitdump_move(NULL, 0, 0, 0, 0), 0);
    assert_int_equal(jitdump_append_raw(NULL, 0, NULL, 0), 0);
    assert_int_equal(jitdump_flush(NULL), 0);
    assert_int_equal(jitdump_flush_from_signal(NULL), 0);
    assert_int_equal(jitdump_close(NULL), 0);
    assert_null(jitdump_path(NULL));
    assert_int_equal(jitdump_open(NULL, NULL), JITDUMP_ERROR_ARGUMENT);
    jitdump_options_init(NULL, 100);
}

static void options_can_be_initialised_by_a_call(void **state)
{
    (void)state;
    struct jitdump_options by_call;
    memset(&by_call, 0xff, sizeof(by_call));
    jitdump_options_init(&by_call, sizeof(by_call));
    const struct jitdump_options expected = {.struct_size = sizeof(expected)};
    assert_memory_equal(&by_call, &expected, sizeof(expected));
}

static void write_through_is_the_default(void **state)
{
    (void)state;
    setenv("JITDUMPDIR", directory, 1);
    struct jitdump *dump = open_with(NULL);
    unsetenv("JITDUMPDIR");
    assert_string_equal(jitdump_path(dump), dump_path(directory, getpid()));
    assert_int_equal(file_size(dump), HEADER);

    uint64_t first, second;
    struct jitdump_code code = code_of_size(10);
    assert_int_equal(jitdump_load(dump, &code, &first), 0);
    assert_int_equal(file_size(dump), HEADER + LOAD + 10);
    assert_int_equal(jitdump_load(dump, &code, &second), 0);
    assert_true(first > 0 && second > first);
    assert_int_equal(jitdump_load(dump, &code, NULL), 0);
    assert_int_equal(jitdump_move(dump, first, 0x1000, 0x2000, 10), 0);
    assert_int_equal(file_size(dump), HEADER + 3 * (LOAD + 10) + MOVE);
    assert_int_equal(jitdump_append_raw(dump, 77, "xyz", 3), 0);
    assert_int_equal(file_size(dump), HEADER + 3 * (LOAD + 10) + MOVE + 19);
    assert_int_equal(writes, 6);
    assert_int_equal(jitdump_close(dump), 0);

    struct contents contents = read_file(dump_path(directory, getpid()));
    assert_int_equal(contents.size, HEADER + 3 * (LOAD + 10) + MOVE + 19 + CLOSE);
    const uint32_t close_id = 3, close_size = 16;
    assert_memory_equal(contents.bytes + contents.size - 16, &close_id, 4);
    assert_memory_equal(contents.bytes + contents.size - 12, &close_size, 4);
    free(contents.bytes);
}

/* perf takes functions of one pid and index for the same (P26). */
static void each_dump_has_indices_of_its_own(void **state)
{
    (void)state;
    enum { DUMPS = 8 };
    const uint64_t far = 1 << 24, end = UINT64_C(1) << 53;
    uint64_t first[DUMPS];
    struct jitdump_code code = code_of_size(10);
    for (int i = 0; i < DUMPS; i++) {
        struct jitdump *dump = open_default();
        assert_int_equal(jitdump_load(dump, &code, &first[i]), 0);
        assert_int_equal(jitdump_close(dump), 0);
        assert_in_range(first[i], 1, end - 1);
        for (int j = 0; j < i; j++)
            assert_true(first[j] - first[i] > far && first[i] - first[j] > far);
    }
}

static void code_is_read_at_its_address_unless_it_lies_elsewhere(void **state)
{
    (void)state;
    struct jitdump *dump = open_default();
    static const char there[] = "code at its address";
    struct jitdump_code code = code_of_size(sizeof(there));
    code.code_bytes = NULL;
    code.code_addr = (uint64_t)(uintptr_t)there;
    assert_int_equal(jitdump_load(dump, &code, NULL), 0);
    code.code_bytes = "code at a 2nd place";
    assert_int_equal(jitdump_load(dump, &code, NULL), 0);
    struct contents contents = read_file(jitdump_path(dump));
    assert_memory_equal(contents.bytes + HEADER + LOAD, there, sizeof(there));
    assert_memory_equal(contents.bytes + HEADER + LOAD + 20 + LOAD, code.code_bytes, 20);
    free(contents.bytes);
    jitdump_close(dump);
}

static void a_buffered_dump_writes_when_it_is_asked_or_full(void **state)
{
    (void)state;
    struct jitdump_options with = options();
    with.flush_mode = JITDUMP_FLUSH_BUFFERED;
    with.flush_bytes = 4096;
    with.flush_interval_ns = UINT64_C(3600000000000);
    struct jitdump *dump = open_with(&with);
    struct jitdump_code code = code_of_size(1000);
    for (int i = 0; i < 3; i++)
        assert_int_equal(jitdump_load(dump, &code, NULL), 0);
    assert_int_equal(file_size(dump), HEADER);
    assert_int_equal(jitdump_load(dump, &code, NULL), 0); /* ends the block */
    assert_int_equal(file_size(dump), HEADER + 3 * (LOAD + 1000));
    assert_int_equal(jitdump_flush(dump), 0);
    assert_int_equal(file_size(dump), HEADER + 4 * (LOAD + 1000));
    assert_int_equal(jitdump_load(dump, &code, NULL), 0);
    assert_int_equal(jitdump_flush_from_signal(dump), 0);
    assert_int_equal(file_size(dump), HEADER + 5 * (LOAD + 1000));
    assert_int_equal(jitdump_close(dump), 0);
}

static void a_buffered_dump_writes_after_the_interval(void **state)
{
    (void)state;
    struct jitdump_options with = options();
    with.flush_mode = JITDUMP_FLUSH_BUFFERED;
    with.flush_interval_ns = 1; /* over with every append */
    struct jitdump *dump = open_with(&with);
    struct jitdump_code code = code_of_size(10);
    assert_int_equal(jitdump_load(dump, &code, NULL), 0);
    assert_int_equal(file_size(dump), HEADER + LOAD + 10);
    jitdump_close(dump);
}

static void a_group_larger_than_a_block_is_written_at_once(void **state)
{
    (void)state;
    for (uint32_t mode = 0; mode <= JITDUMP_FLUSH_BACKGROUND; mode++) {
        struct jitdump_options with = options();
        with.flush_mode = mode;
        struct jitdump *dump = open_with(&with);
        struct jitdump_code small = code_of_size(10), large = code_of_size(300000);
        uint64_t indices[2];
        assert_int_equal(jitdump_load(dump, &small, &indices[0]), 0);
        assert_int_equal(jitdump_load(dump, &large, &indices[1]), 0);
        assert_true(indices[1] > indices[0]);
        assert_int_equal(file_size(dump), HEADER + LOAD + 10 + LOAD + 300000);
        malloc_fails = 1;
        assert_int_equal(jitdump_load(dump, &large, &indices[1]), JITDUMP_ERROR_NO_MEMORY);
        malloc_fails = 0;
        assert_int_equal(indices[1], 0);
        assert_int_equal(jitdump_load(dump, &large, NULL), 0);
        assert_int_equal(file_size(dump), HEADER + LOAD + 10 + 2 * (LOAD + 300000));
        assert_int_equal(jitdump_close(dump), 0);
    }
}

static void a_dump_can_leave_nothing_behind(void **state)
{
    (void)state;
    struct jitdump_options with = options();
    with.flags = JITDUMP_UNLINK_AT_CLOSE;
    struct jitdump *dump = open_with(&with);
    assert_int_equal(access(dump_path(directory, getpid()), F_OK), 0);
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(access(dump_path(directory, getpid()), F_OK), -1);
}

static void the_header_says_what_was_chosen(void **state)
{
    (void)state;
    struct jitdump_options with = options();
    with.elf_mach = 0x1234;
    with.clock = JITDUMP_CLOCK_TSC;
    with.flags = JITDUMP_FORCE_TSC;
    struct jitdump *dump;
    const int error = jitdump_open(&dump, &with);
    if (error == JITDUMP_ERROR_CLOCK_UNSUPPORTED)
        skip();
    assert_int_equal(error, 0);
    struct contents contents = read_file(jitdump_path(dump));
    const uint32_t fields[6] = {0x4a695444, 1, HEADER, 0x1234, 0, (uint32_t)getpid()};
    const uint64_t flags = 1;
    assert_memory_equal(contents.bytes, fields, sizeof(fields));
    assert_memory_equal(contents.bytes + 32, &flags, 8);
    free(contents.bytes);
    jitdump_close(dump);

    dump = open_default();
    contents = read_file(jitdump_path(dump));
    const uint64_t no_flags = 0;
    assert_memory_equal(contents.bytes + 32, &no_flags, 8);
    assert_int_not_equal(contents.bytes[12], 0); /* some machine */
    free(contents.bytes);
    jitdump_close(dump);
}

static void a_thousand_dumps_leak_nothing(void **state)
{
    (void)state;
    const int descriptors = count_descriptors();
    const uint64_t bytes = mapped_bytes();
    for (int i = 0; i < 1000; i++) {
        struct jitdump_options with = options();
        with.flush_mode = (uint32_t)i % 3;
        struct jitdump *dump = open_with(&with);
        struct jitdump_code code = code_of_size(10);
        assert_int_equal(jitdump_load(dump, &code, NULL), 0);
        assert_int_equal(jitdump_close(dump), 0);
    }
    assert_int_equal(count_descriptors(), descriptors);
    assert_int_equal(count_mappings("jit-", ""), 0);
    /* Of handles alone, a leak would be four blocks of 64 KiB a thousand times. */
    const uint64_t leak = 1000 * 4 * 65536;
    assert_true(mapped_bytes() < bytes + leak / 2);
}

static void two_dumps_live_in_two_directories(void **state)
{
    (void)state;
    char other[PATH_MAX];
    snprintf(other, sizeof(other), "%s/other", directory);
    assert_int_equal(mkdir(other, 0700), 0);
    struct jitdump *first = open_default();
    struct jitdump_options with = options();
    struct jitdump *second;
    assert_int_equal(jitdump_open(&second, &with), JITDUMP_ERROR_FILE_IN_USE);
    with.directory = other;
    second = open_with(&with);
    assert_string_not_equal(jitdump_path(first), jitdump_path(second));
    struct jitdump_code code = code_of_size(10);
    assert_int_equal(jitdump_load(second, &code, NULL), 0);
    assert_int_equal(file_size(first), HEADER);
    assert_int_equal(jitdump_close(first), 0);
    assert_int_equal(jitdump_load(second, &code, NULL), 0);
    assert_int_equal(jitdump_close(second), 0);
}

static void every_error_has_a_line_of_its_own(void **state)
{
    (void)state;
    const char *unknown = jitdump_strerror(-1000);
    for (int error = 0; error >= JITDUMP_ERROR_UNSUPPORTED; error--) {
        const char *line = jitdump_strerror(error);
        assert_null(strchr(line, '\n'));
        assert_string_not_equal(line, unknown);
        for (int other = 0; other > error; other--)
            assert_string_not_equal(line, jitdump_strerror(other));
    }
    assert_string_equal(jitdump_strerror(1), unknown);
    assert_string_equal(jitdump_strerror(JITDUMP_ERROR_UNSUPPORTED - 1), unknown);
}

static void the_version_is_the_headers(void **state)
{
    (void)state;
    assert_int_equal(jitdump_version(), JITDUMP_VERSION_MAJOR * 10000 +
                                            JITDUMP_VERSION_MINOR * 100 + JITDUMP_VERSION_PATCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_null_handle_does_nothing),
        cmocka_unit_test(options_can_be_initialised_by_a_call),
        TEST(write_through_is_the_default),
        TEST(each_dump_has_indices_of_its_own),
        TEST(code_is_read_at_its_address_unless_it_lies_elsewhere),
        TEST(a_buffered_dump_writes_when_it_is_asked_or_full),
        TEST(a_buffered_dump_writes_after_the_interval),
        TEST(a_group_larger_than_a_block_is_written_at_once),
        TEST(a_dump_can_leave_nothing_behind),
        TEST(the_header_says_what_was_chosen),
        TEST(a_thousand_dumps_leak_nothing),
        TEST(two_dumps_live_in_two_directories),
        cmocka_unit_test(every_error_has_a_line_of_its_own),
        cmocka_unit_test(the_version_is_the_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
