/* Structs of older and newer versions: each that has a struct_size is given in memory of exactly
 * that size, so that AddressSanitizer sees who reads past it. */
#include "temporary.h"

#include "jitdump.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HEADER = 40, LOAD = 56, DEBUG_INFO = 32, ENTRY = 16 };

/* A copy of the struct with another size: cut, or zeros added, the last byte of which is `last`. */
static void *resized(const void *structure, size_t known_size, size_t size, unsigned char last)
{
    unsigned char *copy = calloc(1, size);
    assert_non_null(copy);
    memcpy(copy, structure, size < known_size ? size : known_size);
    const uint32_t struct_size = (uint32_t)size;
    memcpy(copy, &struct_size, sizeof(struct_size));
    if (size > known_size)
        copy[size - 1] = last;
    return copy;
}

static struct jitdump_options options(void)
{
    return (struct jitdump_options){.struct_size = sizeof(struct jitdump_options),
                                    .elf_mach = EM_X86_64,
                                    .directory = directory};
}

static struct jitdump *open_dump(void)
{
    const struct jitdump_options with = options();
    struct jitdump *dump;
    assert_int_equal(jitdump_open(&dump, &with), 0);
    return dump;
}

static size_t file_size(const struct jitdump *dump)
{
    struct stat status;
    assert_int_equal(stat(jitdump_path(dump), &status), 0);
    return (size_t)status.st_size;
}

/* Loads a copy of the code of that size; *grown_by is what it added to the file. */
static int load_resized(const struct jitdump_code *code, size_t size, unsigned char last,
                        size_t *grown_by)
{
    struct jitdump *dump = open_dump();
    struct jitdump_code *copy = resized(code, sizeof(*code), size, last);
    uint64_t index = 1;
    const int error = jitdump_load(dump, copy, &index);
    assert_int_equal(index != 0, error == 0);
    *grown_by = file_size(dump) - HEADER;
    free(copy);
    assert_int_equal(jitdump_close(dump), 0);
    return error;
}

static int open_resized(const struct jitdump_options *with, size_t size, unsigned char last)
{
    struct jitdump_options *copy = resized(with, sizeof(*with), size, last);
    struct jitdump *dump;
    const int error = jitdump_open(&dump, copy);
    assert_int_equal(dump != NULL, error == 0);
    assert_int_equal(jitdump_close(dump), 0);
    free(copy);
    return error;
}

static const struct jitdump_line line = {0x1000, 7, 1, "a"};
static const struct jitdump_unwind frame = {.struct_size = sizeof(frame),
                                            .frame = JITDUMP_FRAME_POINTER};
static const struct jitdump_code whole_code = {.struct_size = sizeof(whole_code),
                                               .name = "f",
                                               .code_addr = 0x1000,
                                               .code_size = 8,
                                               .code_bytes = "function",
                                               .lines = &line,
                                               .line_count = 1,
                                               .unwind = &frame};

static void larger_structs_are_taken_if_the_unknown_is_zero(void **state)
{
    (void)state;
    size_t grown_by, expected;
    assert_int_equal(load_resized(&whole_code, sizeof(whole_code), 0, &expected), 0);
    assert_int_equal(load_resized(&whole_code, sizeof(whole_code) + 8, 0, &grown_by), 0);
    assert_int_equal(grown_by, expected);
    assert_int_equal(load_resized(&whole_code, 4096, 0, &grown_by), 0);
    assert_int_equal(grown_by, expected);
    const struct jitdump_options with = options();
    assert_int_equal(open_resized(&with, sizeof(with) + 8, 0), 0);
    assert_int_equal(open_resized(&with, 4096, 0), 0);
}

static void larger_structs_are_refused_if_it_is_not(void **state)
{
    (void)state;
    size_t grown_by;
    assert_int_equal(load_resized(&whole_code, sizeof(whole_code) + 8, 1, &grown_by),
                     JITDUMP_ERROR_STRUCT_SIZE);
    assert_int_equal(grown_by, 0);
    assert_int_equal(load_resized(&whole_code, 4096, 1, &grown_by), JITDUMP_ERROR_STRUCT_SIZE);
    const struct jitdump_options with = options();
    assert_int_equal(open_resized(&with, sizeof(with) + 8, 1), JITDUMP_ERROR_STRUCT_SIZE);
}

/* With what is cut off the code has neither lines nor unwinding data. */
static void what_smaller_structs_lack_is_zero(void **state)
{
    (void)state;
    size_t grown_by;
    assert_int_equal(load_resized(&whole_code, offsetof(struct jitdump_code, eh_frame), 0,
                                  &grown_by), 0);
    assert_int_equal(grown_by, LOAD + 2 + 8 + DEBUG_INFO + 2 * (ENTRY + 2));
    assert_int_equal(load_resized(&whole_code, offsetof(struct jitdump_code, lines), 0, &grown_by),
                     0);
    assert_int_equal(grown_by, LOAD + 2 + 8);

    struct jitdump_options with = options();
    with.flush_bytes = 1; /* an error, if it is read */
    with.directory = "/no/such/place";
    assert_int_equal(setenv("JITDUMPDIR", directory, 1), 0);
    assert_int_equal(open_resized(&with, offsetof(struct jitdump_options, flush_bytes), 0), 0);
    assert_int_equal(unsetenv("JITDUMPDIR"), 0);
}

/* Less than the first version's fields that must be there, no multiple of a pointer's size, or
 * more than any version will have. What lies behind does not matter then. */
static void sizes_of_no_version_are_refused(void **state)
{
    (void)state;
    struct jitdump *dump = open_dump();
    char message[] = "as it was";
    const uint32_t minima[] = {offsetof(struct jitdump_options, flush_bytes),
                               offsetof(struct jitdump_code, lines)};
    for (int i = 0; i < 2; i++) {
        const uint32_t sizes[] = {0, minima[i] - (uint32_t)sizeof(void *), minima[i] + 1, 4104,
                                  UINT32_MAX - 7};
        for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
            struct jitdump_options with = options();
            with.error_message = message;
            with.error_message_size = sizeof(message);
            struct jitdump_code code = whole_code;
            struct jitdump *none;
            with.struct_size = code.struct_size = sizes[j];
            assert_int_equal(i == 0 ? jitdump_open(&none, &with) : jitdump_load(dump, &code, NULL),
                             JITDUMP_ERROR_STRUCT_SIZE);
        }
    }
    assert_string_equal(message, "as it was");
    assert_int_equal(jitdump_close(dump), 0);
}

/* The message's place is known as soon as the size is one that a version can have. */
static void a_newer_program_gets_the_message(void **state)
{
    (void)state;
    char message[300] = "as it was";
    struct jitdump_options with = options();
    with.error_message = message;
    with.error_message_size = sizeof(message);
    assert_int_equal(open_resized(&with, sizeof(with) + 8, 1), JITDUMP_ERROR_STRUCT_SIZE);
    assert_string_equal(message, jitdump_strerror(JITDUMP_ERROR_STRUCT_SIZE));
    /* And an older one whose struct has none is not written to. */
    strcpy(message, "as it was");
    with.clock = 77;
    assert_int_equal(open_resized(&with, offsetof(struct jitdump_options, error_message), 0),
                     JITDUMP_ERROR_OPTION);
    assert_string_equal(message, "as it was");
}

static uint64_t unwind_size(const struct jitdump *dump, const struct jitdump_code *code)
{
    uint64_t size;
    assert_int_equal(jitdump_unwind_size(dump, code, &size), 0);
    return size;
}

static void the_calls_for_unwinding_data_alike(void **state)
{
    (void)state;
    struct jitdump *dump = open_dump();
    const uint64_t expected = unwind_size(dump, &whole_code);
    assert_true(expected > 0);
    uint64_t size;
    for (int with_last = 0; with_last < 2; with_last++) {
        const int error = with_last ? JITDUMP_ERROR_STRUCT_SIZE : 0;
        struct jitdump_code *copy = resized(&whole_code, sizeof(whole_code),
                                            sizeof(whole_code) + 16, (unsigned char)with_last);
        assert_int_equal(jitdump_unwind_size(dump, copy, &size), error);
        assert_int_equal(size, with_last ? 0 : expected);
        assert_int_equal(jitdump_unwind_eh_frame(EM_X86_64, copy, NULL, 0, &size),
                         with_last ? error : JITDUMP_ERROR_UNWIND_CAPACITY);
        free(copy);

        struct jitdump_code code = whole_code;
        code.unwind = resized(&frame, sizeof(frame), sizeof(frame) + 8, (unsigned char)with_last);
        assert_int_equal(jitdump_unwind_size(dump, &code, &size), error);
        assert_int_equal(size, with_last ? 0 : expected);
        assert_int_equal(jitdump_unwind_eh_frame(EM_X86_64, &code, NULL, 0, &size),
                         with_last ? error : JITDUMP_ERROR_UNWIND_CAPACITY);
        assert_int_equal(jitdump_load(dump, &code, NULL), error);
        free((void *)(uintptr_t)code.unwind);
    }
    /* Without steps, a description is `frame` alone. */
    struct jitdump_unwind steps = frame;
    steps.step_count = 1; /* an error, if it is read */
    struct jitdump_code code = whole_code;
    code.unwind = resized(&steps, sizeof(steps), offsetof(struct jitdump_unwind, steps), 0);
    assert_int_equal(unwind_size(dump, &code), expected);
    assert_int_equal(jitdump_load(dump, &code, NULL), 0);
    free((void *)(uintptr_t)code.unwind);
    code = whole_code;
    code.unwind = NULL;
    struct jitdump_code *copy =
        resized(&code, sizeof(code), offsetof(struct jitdump_code, lines), 0);
    assert_int_equal(unwind_size(dump, copy), 0);
    free(copy);
    assert_int_equal(jitdump_close(dump), 0);
}

/* Two tracks, each of `size` bytes: the second is the one that is chosen by its name. */
static int load_tracks(size_t size, size_t second_size, unsigned char last, size_t *grown_by)
{
    const struct jitdump_function function = {"f", "file", 1, 1, 0, 0, 0, 0};
    const struct jitdump_position position = {0, 3, 1, JITDUMP_NONE};
    const struct jitdump_offset offset = {0, 0};
    struct jitdump_track track = {
        .struct_size = sizeof(track), .name = "first", .reserved = 1 /* not looked at */};
    const struct jitdump_track chosen = {
        sizeof(chosen), 0, "second", &function, 1, &position, 1, &offset, 1};
    unsigned char *first = resized(&track, sizeof(track), size, 0);
    unsigned char *second = resized(&chosen, sizeof(chosen), second_size, last);
    unsigned char *array = malloc(size + second_size);
    assert_non_null(array);
    memcpy(array, first, size);
    memcpy(array + size, second, second_size);

    struct jitdump_options with = options();
    with.track = "second";
    struct jitdump *dump;
    assert_int_equal(jitdump_open(&dump, &with), 0);
    struct jitdump_code code = whole_code;
    code.line_count = 0;
    code.unwind = NULL;
    code.tracks = (const struct jitdump_track *)(const void *)array;
    code.track_count = 2;
    const int error = jitdump_load(dump, &code, NULL);
    *grown_by = file_size(dump) - HEADER;
    assert_int_equal(jitdump_close(dump), 0);
    free(array);
    free(second);
    free(first);
    return error;
}

static void the_size_of_tracks_is_their_array_s_stride(void **state)
{
    (void)state;
    const size_t size = sizeof(struct jitdump_track);
    const size_t expected = LOAD + 2 + 8 + DEBUG_INFO + 2 * (ENTRY + 5);
    size_t grown_by;
    assert_int_equal(load_tracks(size, size, 0, &grown_by), 0);
    assert_int_equal(grown_by, expected);
    assert_int_equal(load_tracks(size + 24, size + 24, 0, &grown_by), 0);
    assert_int_equal(grown_by, expected);
    assert_int_equal(load_tracks(size + 24, size + 24, 1, &grown_by), JITDUMP_ERROR_STRUCT_SIZE);
    assert_int_equal(load_tracks(size, size + 8, 0, &grown_by), JITDUMP_ERROR_STRUCT_SIZE);
    assert_int_equal(load_tracks(size - 8, size - 8, 0, &grown_by), JITDUMP_ERROR_STRUCT_SIZE);
    assert_int_equal(grown_by, 0);
}

static void reserved_fields_are_zero(void **state)
{
    (void)state;
    struct jitdump_function functions[] = {{"f", "file", 1, 1, 0, 0, 0, 0}, {"unused", "", 1, 1, 0, 0, 0, 1}};
    const struct jitdump_position position = {0, 3, 1, JITDUMP_NONE};
    const struct jitdump_offset offset = {0, 0};
    struct jitdump_track track = {
        sizeof(track), 0, "second", functions, 2, &position, 1, &offset, 1};
    struct jitdump_code code = whole_code;
    code.line_count = 0;
    code.tracks = &track;
    code.track_count = 1;
    struct jitdump *dump = open_dump();
    assert_int_equal(jitdump_load(dump, &code, NULL), 0);
    const size_t size = file_size(dump);
    functions[0].reserved = 1;
    assert_int_equal(jitdump_load(dump, &code, NULL), JITDUMP_ERROR_RESERVED);
    functions[0].reserved = 0;
    track.reserved = 1;
    assert_int_equal(jitdump_load(dump, &code, NULL), JITDUMP_ERROR_RESERVED);
    assert_int_equal(file_size(dump), size);
    assert_int_equal(jitdump_close(dump), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(larger_structs_are_taken_if_the_unknown_is_zero),
        unit_test_in_directory(larger_structs_are_refused_if_it_is_not),
        unit_test_in_directory(what_smaller_structs_lack_is_zero),
        unit_test_in_directory(sizes_of_no_version_are_refused),
        unit_test_in_directory(a_newer_program_gets_the_message),
        unit_test_in_directory(the_calls_for_unwinding_data_alike),
        unit_test_in_directory(the_size_of_tracks_is_their_array_s_stride),
        unit_test_in_directory(reserved_fields_are_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
