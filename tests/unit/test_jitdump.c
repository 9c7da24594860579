/* The public API on a real file. What the file's bytes mean is checked by the reader of the
 * stress tests and by the profilers; here it is what each call returns and changes. */
#define _GNU_SOURCE
#include "temporary.h"

#include "jitdump.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int write_errno;
static int writes;
static int malloc_fails;
static int mmap_fails;

ssize_t __real_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count)
{
    writes++;
    if (write_errno != 0) {
        errno = write_errno;
        return -1;
    }
    return __real_writev(fd, bytes, count);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    if (malloc_fails) {
        errno = ENOMEM;
        return NULL;
    }
    return __real_malloc(size);
}

void *__real_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (mmap_fails && fd < 0) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return __real_mmap(address, size, protection, flags, fd, offset);
}

static int set_up(void **state)
{
    write_errno = writes = malloc_fails = mmap_fails = 0;
    return make_temporary_directory(state);
}

static struct jitdump_options options(void)
{
    return (struct jitdump_options){.struct_size = sizeof(struct jitdump_options),
                                    .directory = directory};
}

static struct jitdump *open_with(const struct jitdump_options *with)
{
    struct jitdump *dump;
    assert_int_equal(jitdump_open(&dump, with), 0);
    assert_non_null(dump);
    return dump;
}

static struct jitdump *open_default(void)
{
    const struct jitdump_options with = options();
    return open_with(&with);
}

static struct jitdump_code code_of_size(uint64_t size)
{
    static unsigned char bytes[300000];
    return (struct jitdump_code){.struct_size = sizeof(struct jitdump_code),
                                 .name = "f",
                                 .code_addr = 0x1000,
                                 .code_size = size,
                                 .code_bytes = bytes};
}

static off_t file_size(struct jitdump *dump)
{
    struct stat status;
    assert_int_equal(stat(jitdump_path(dump), &status), 0);
    return status.st_size;
}

enum { HEADER = 40, LOAD = 56 + 2, MOVE = 64, CLOSE = 16 };

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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, remove_temporary_directory)

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
        TEST(bad_options_are_refused),
        TEST(a_file_that_may_not_have_a_header_is_told_without_claims),
        TEST(bad_input_is_refused_and_changes_nothing),
        TEST(an_error_of_the_file_is_sticky),
        TEST(the_size_limit_ends_the_dump_with_all_that_was_accepted),
        TEST(the_size_limit_keeps_the_place_of_the_last_record),
        TEST(a_load_that_fails_for_memory_does_not_count_towards_the_limit),
        TEST(errno_is_left_alone_where_memory_is_short),
        TEST(a_dump_can_leave_nothing_behind),
        TEST(the_header_says_what_was_chosen),
        TEST(a_thousand_dumps_leak_nothing),
        TEST(two_dumps_live_in_two_directories),
        cmocka_unit_test(every_error_has_a_line_of_its_own),
        cmocka_unit_test(the_version_is_the_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
