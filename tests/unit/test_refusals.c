/* The public API where something is wrong: with options, input, the file, its limit or memory. */
#define _GNU_SOURCE
#include "api_case.h"

static void bad_options_are_refused(void **state)
{
    (void)state;
    char message[200];
    const int descriptors = count_descriptors();
    struct jitdump *dump;
    struct jitdump_options with;
#define CHECK_OPTION(expected, change)                                                             \
    do {                                                                                           \
        with = options();                                                                          \
        with.error_message = message;                                                              \
        with.error_message_size = sizeof(message);                                                 \
        change;                                                                                    \
        dump = (struct jitdump *)1;                                                                \
        assert_int_equal(jitdump_open(&dump, &with), expected);                                    \
        assert_null(dump);                                                                         \
    } while (0)
    CHECK_OPTION(JITDUMP_ERROR_STRUCT_SIZE, with.struct_size = 0);
    CHECK_OPTION(JITDUMP_ERROR_STRUCT_SIZE, with.struct_size--);
    CHECK_OPTION(JITDUMP_ERROR_STRUCT_SIZE, with.struct_size++);
    CHECK_OPTION(JITDUMP_ERROR_OPTION, with.flags = UINT32_C(1) << 31);
    assert_string_equal(message, jitdump_strerror(JITDUMP_ERROR_OPTION));
    CHECK_OPTION(JITDUMP_ERROR_OPTION, with.clock = 2);
    CHECK_OPTION(JITDUMP_ERROR_OPTION, with.flush_mode = 3);
    CHECK_OPTION(JITDUMP_ERROR_OPTION, with.elf_mach = 65536);
    CHECK_OPTION(JITDUMP_ERROR_OPTION, with.dialect = 3);
    CHECK_OPTION(JITDUMP_ERROR_OPTION, with.flush_bytes = 4095);
    CHECK_OPTION(JITDUMP_ERROR_OPTION, with.flush_bytes = (16 << 20) + 1);
    CHECK_OPTION(JITDUMP_ERROR_OPTION, with.flush_interval_ns = UINT64_C(3600000000001));
    CHECK_OPTION(JITDUMP_ERROR_OPTION, with.size_limit = 4095);
    CHECK_OPTION(JITDUMP_ERROR_DIRECTORY_MISSING, with.directory = "/no/such/place");
    assert_memory_equal(message, "/no/such/place: ", 16);
    assert_string_equal(message + 16, jitdump_strerror(JITDUMP_ERROR_DIRECTORY_MISSING));
    CHECK_OPTION(JITDUMP_ERROR_NO_MEMORY, mmap_fails = 1);
    mmap_fails = 0;
    CHECK_OPTION(JITDUMP_ERROR_IO, write_errno = EIO);
    write_errno = 0;
    assert_non_null(strstr(message, dump_path(directory, getpid())));
    assert_non_null(strstr(message, "(errno 5)"));
    CHECK_OPTION(JITDUMP_ERROR_DIRECTORY_MISSING,
                 with.directory = "/no/such/place"; with.error_message_size = 8);
    assert_string_equal(message, "/no/suc");
#undef CHECK_OPTION
    assert_int_equal(count_descriptors(), descriptors);
    assert_int_equal(access(dump_path(directory, getpid()), F_OK), -1);

    with = options();
    with.error_message = message;
    with.error_message_size = sizeof(message);
    dump = open_with(&with);
    assert_string_equal(message, "");
    jitdump_close(dump);
}

/* What is in the file behind its last whole record is no matter of a file that is not there. */
static void a_file_that_may_not_have_a_header_is_told_without_claims(void **state)
{
    (void)state;
    char message[PATH_MAX + 200];
    struct jitdump_options with = options();
    with.error_message = message;
    with.error_message_size = sizeof(message);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit none = {0, before.rlim_max};
    struct jitdump *dump;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    const int error = jitdump_open(&dump, &with);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(error, JITDUMP_ERROR_FILE_TOO_LARGE);
    assert_non_null(strstr(message, "RLIMIT_FSIZE"));
    assert_int_equal(access(dump_path(directory, getpid()), F_OK), -1);
    static const int errors[] = {JITDUMP_ERROR_FILE_TOO_LARGE, JITDUMP_ERROR_DISK_FULL,
                                 JITDUMP_ERROR_IO};
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        assert_null(strstr(jitdump_strerror(errors[i]), "record"));
}

/* The encoders' own refusals are in test_record.c; this is that they come through, and
 * change nothing. */
static void bad_input_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    struct jitdump *dump = open_default();
    const off_t size = file_size(dump);
    struct jitdump_code code;
    uint64_t index;
#define CHECK_LOAD(expected, change)                                                               \
    do {                                                                                           \
        code = code_of_size(16);                                                                   \
        change;                                                                                    \
        index = 1;                                                                                 \
        assert_int_equal(jitdump_load(dump, &code, &index), expected);                             \
        assert_int_equal(index, 0);                                                                \
    } while (0)
    CHECK_LOAD(JITDUMP_ERROR_STRUCT_SIZE, code.struct_size = 0);
    CHECK_LOAD(JITDUMP_ERROR_STRUCT_SIZE, code.struct_size--);
    CHECK_LOAD(JITDUMP_ERROR_TIER, code.tier = 1);
    CHECK_LOAD(JITDUMP_ERROR_NAME_MISSING, code.name = NULL);
    CHECK_LOAD(JITDUMP_ERROR_CODE_SIZE, code.code_size = UINT32_MAX);
    CHECK_LOAD(JITDUMP_ERROR_LINES_MISSING, code.line_count = 1);
    CHECK_LOAD(JITDUMP_ERROR_UNWIND_EMPTY, code.eh_frame_size = 1);
#undef CHECK_LOAD
    assert_int_equal(jitdump_load(dump, NULL, NULL), JITDUMP_ERROR_ARGUMENT);
    assert_int_equal(jitdump_move(dump, 0, 1, 2, 3), JITDUMP_ERROR_CODE_INDEX);
    assert_int_equal(jitdump_append_raw(dump, 3, "x", 1), JITDUMP_ERROR_RECORD_ID);
    assert_int_equal(jitdump_append_raw(dump, 5, "x", 0), JITDUMP_ERROR_RECORD_EMPTY);
    assert_int_equal(jitdump_append_raw(dump, 5, NULL, 1), JITDUMP_ERROR_ARGUMENT);
    assert_int_equal(file_size(dump), size);

    code = code_of_size(16);
    assert_int_equal(jitdump_load(dump, &code, NULL), 0);
    assert_int_equal(file_size(dump), size + LOAD + 16);
    assert_int_equal(jitdump_close(dump), 0);
}

static void an_error_of_the_file_is_sticky(void **state)
{
    (void)state;
    const int descriptors = count_descriptors();
    struct jitdump *dump = open_default();
    struct jitdump_code code = code_of_size(16), bad = {0};
    uint64_t index = 1;
    write_errno = ENOSPC;
    errno = 12345;
    assert_int_equal(jitdump_load(dump, &code, &index), JITDUMP_ERROR_DISK_FULL);
    assert_int_equal(errno, 12345);
    assert_int_equal(index, 0);
    write_errno = 0;
    const int calls = writes;
    assert_int_equal(jitdump_load(dump, &bad, NULL), JITDUMP_ERROR_DISK_FULL);
    assert_int_equal(jitdump_move(dump, 1, 1, 2, 3), JITDUMP_ERROR_DISK_FULL);
    assert_int_equal(jitdump_append_raw(dump, 5, "x", 1), JITDUMP_ERROR_DISK_FULL);
    assert_int_equal(jitdump_add_tier(dump, NULL, 0, NULL, NULL), JITDUMP_ERROR_DISK_FULL);
    assert_int_equal(jitdump_embed_source(dump, NULL, NULL, 0), JITDUMP_ERROR_DISK_FULL);
    assert_int_equal(jitdump_flush(dump), JITDUMP_ERROR_DISK_FULL);
    assert_int_equal(jitdump_flush_from_signal(dump), JITDUMP_ERROR_DISK_FULL);
    assert_non_null(jitdump_path(dump));
    assert_int_equal(file_size(dump), HEADER);
    assert_int_equal(jitdump_close(dump), JITDUMP_ERROR_DISK_FULL);
    assert_int_equal(writes, calls);
    assert_int_equal(count_descriptors(), descriptors);
}

static void the_size_limit_ends_the_dump_with_all_that_was_accepted(void **state)
{
    (void)state;
    for (uint32_t mode = 0; mode <= JITDUMP_FLUSH_BACKGROUND; mode++) {
        struct jitdump_options with = options();
        with.flush_mode = mode;
        with.size_limit = HEADER + 100 * (LOAD + 10) + CLOSE;
        struct jitdump *dump = open_with(&with);
        struct jitdump_code code = code_of_size(10);
        for (int i = 0; i < 100; i++)
            assert_int_equal(jitdump_load(dump, &code, NULL), 0);
        assert_int_equal(jitdump_load(dump, &code, NULL), JITDUMP_ERROR_SIZE_LIMIT);
        assert_int_equal(jitdump_move(dump, 1, 1, 2, 3), JITDUMP_ERROR_SIZE_LIMIT);
        assert_int_equal(jitdump_flush(dump), 0);
        assert_int_equal(file_size(dump), with.size_limit - CLOSE);
        assert_int_equal(jitdump_close(dump), JITDUMP_ERROR_SIZE_LIMIT);
        struct contents contents = read_file(dump_path(directory, getpid()));
        assert_int_equal(contents.size, with.size_limit);
        free(contents.bytes);
    }
}

static void the_size_limit_keeps_the_place_of_the_last_record(void **state)
{
    (void)state;
    struct jitdump_options with = options();
    with.size_limit = HEADER + 100 * (LOAD + 10) + CLOSE - 1;
    struct jitdump *dump = open_with(&with);
    struct jitdump_code code = code_of_size(10);
    for (int i = 0; i < 99; i++)
        assert_int_equal(jitdump_load(dump, &code, NULL), 0);
    assert_int_equal(jitdump_load(dump, &code, NULL), JITDUMP_ERROR_SIZE_LIMIT);
    jitdump_close(dump);
}

static void a_load_that_fails_for_memory_does_not_count_towards_the_limit(void **state)
{
    (void)state;
    struct jitdump_options with = options();
    with.size_limit = HEADER + LOAD + 300000 + CLOSE;
    struct jitdump *dump = open_with(&with);
    struct jitdump_code code = code_of_size(300000);
    malloc_fails = 1;
    assert_int_equal(jitdump_load(dump, &code, NULL), JITDUMP_ERROR_NO_MEMORY);
    malloc_fails = 0;
    assert_int_equal(jitdump_load(dump, &code, NULL), 0);
    assert_int_equal(jitdump_close(dump), 0);
}

static void errno_is_left_alone_where_memory_is_short(void **state)
{
    (void)state;
    struct jitdump_options with = options();
    struct jitdump *dump = open_with(&with);
    struct jitdump_code code = code_of_size(300000);
    uint32_t tier;
    malloc_fails = 1;
    errno = EDOM;
    assert_int_equal(jitdump_load(dump, &code, NULL), JITDUMP_ERROR_NO_MEMORY);
    assert_int_equal(errno, EDOM);
    assert_int_equal(jitdump_add_tier(dump, "Ion", 0, "Ion: ", &tier), JITDUMP_ERROR_NO_MEMORY);
    assert_int_equal(errno, EDOM);
    malloc_fails = 0;
    assert_int_equal(jitdump_close(dump), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bad_options_are_refused),
        TEST(a_file_that_may_not_have_a_header_is_told_without_claims),
        TEST(bad_input_is_refused_and_changes_nothing),
        TEST(an_error_of_the_file_is_sticky),
        TEST(the_size_limit_ends_the_dump_with_all_that_was_accepted),
        TEST(the_size_limit_keeps_the_place_of_the_last_record),
        TEST(a_load_that_fails_for_memory_does_not_count_towards_the_limit),
        TEST(errno_is_left_alone_where_memory_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
