/* Many loads in one call: the same records as by as many calls, in a few writes, with the indices that
 * the caller gets; and what an error in the middle means. */
#include "temporary.h"

#include "format/records.h"
#include "jitdump.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MANY = 3000 };

/* The flush thread writes, too. Only the number counts, nothing is handed over by it: relaxed. */
static _Atomic uint64_t writes;

ssize_t __real_writev(int fd, const struct iovec *iov, int count);
ssize_t __wrap_writev(int fd, const struct iovec *iov, int count);
ssize_t __wrap_writev(int fd, const struct iovec *iov, int count)
{
    atomic_fetch_add_explicit(&writes, 1, memory_order_relaxed);
    return __real_writev(fd, iov, count);
}

static unsigned char code_bytes[200000];
static char names[MANY][16];
static struct jitdump_line lines[MANY];
static const struct jitdump_unwind standard = {.struct_size = sizeof(standard),
                                               .frame = JITDUMP_FRAME_POINTER};
static const struct jitdump_function track_functions[] = {{"f", "f.c", 1, 1, 0, 0, 0, 0}};
static struct jitdump_position track_positions[3000];
static const struct jitdump_offset track_offsets[] = {{0, 0}, {4, 2999}};
static const struct jitdump_track track = {.struct_size = sizeof(track),
                                           .functions = track_functions,
                                           .function_count = 1,
                                           .positions = track_positions,
                                           .position_count = 3000,
                                           .offsets = track_offsets,
                                           .offset_count = 2};

/* Of all kinds: with lines, frames, tracks that take an allocation, and, if wanted, larger than a
 * block. */
static struct jitdump_code function(int i, bool with_large)
{
    snprintf(names[i], sizeof(names[i]), "function %d", i);
    struct jitdump_code code = {.struct_size = sizeof(code),
                                .name = names[i],
                                .code_addr = 0x100000 + (uint64_t)i * 0x40000,
                                .code_size = 16 + (uint64_t)i % 50,
                                .code_bytes = code_bytes + i};
    lines[i] = (struct jitdump_line){code.code_addr, 1 + (uint32_t)i, 0, "f.c"};
    if (i % 2 == 0) {
        code.lines = &lines[i];
        code.line_count = 1;
    }
    if (i % 3 == 0)
        code.unwind = &standard;
    if (i % 100 == 7) {
        code.line_count = 0;
        code.tracks = &track;
        code.track_count = 1;
    }
    if (with_large && i % 1000 == 500)
        code.code_size = 100000;
    return code;
}

static struct jitdump *open_dump(struct jitdump_options options)
{
    struct jitdump *dump;
    options.struct_size = sizeof(options);
    options.directory = directory;
    options.elf_mach = 62;
    assert_int_equal(jitdump_open(&dump, &options), 0);
    return dump;
}

static struct contents close_and_read(struct jitdump *dump, int expected)
{
    assert_int_equal(jitdump_close(dump), expected);
    return read_file(dump_path(directory, getpid()));
}

/* Takes out what no two dumps have in common, and checks the indices of the loads; those of
 * `indices` that are 0 have none. */
static void normalize(struct contents *file, const uint64_t *indices)
{
    uint64_t before = 0;
    int i = 0;
    memset(file->bytes + offsetof(struct jitdump_file_header, timestamp), 0, 8);
    for (size_t at = sizeof(struct jitdump_file_header); at < file->size;) {
        struct jit_record_header header;
        memcpy(&header, file->bytes + at, sizeof(header));
        assert_true(header.timestamp >= before);
        before = header.timestamp;
        memset(file->bytes + at + offsetof(struct jit_record_header, timestamp), 0, 8);
        if (header.id == JIT_CODE_LOAD) {
            unsigned char *index = file->bytes + at + offsetof(struct jit_code_load, code_index);
            while (indices[i] == 0)
                i++;
            assert_memory_equal(index, &indices[i], 8);
            assert_true(i == 0 || indices[i] > indices[i - 1] || indices[i - 1] == 0);
            memset(index, 0, 8);
            i++;
        }
        at += header.total_size;
    }
}

static void check_same(enum jitdump_flush_mode flush_mode, bool with_large, uint64_t writes_max)
{
    static struct jitdump_code codes[MANY];
    static uint64_t indices[MANY];
    const struct jitdump_options options = {.flush_mode = flush_mode};
    struct jitdump *dump = open_dump(options);
    for (int i = 0; i < MANY; i++) {
        codes[i] = function(i, with_large);
        assert_int_equal(jitdump_load(dump, &codes[i], &indices[i]), 0);
    }
    struct contents expected = close_and_read(dump, 0);
    normalize(&expected, indices);

    dump = open_dump(options);
    writes = 0;
    assert_int_equal(jitdump_load_many(dump, codes, MANY, indices), 0);
    assert_in_range(writes, flush_mode == JITDUMP_FLUSH_WRITE_THROUGH, writes_max);
    struct contents found = close_and_read(dump, 0);
    normalize(&found, indices);
    assert_int_equal(found.size, expected.size);
    assert_memory_equal(found.bytes, expected.bytes, found.size);
    /* Without indices, which nobody needs to want. */
    dump = open_dump(options);
    assert_int_equal(jitdump_load_many(dump, codes, MANY, NULL), 0);
    struct contents again = close_and_read(dump, 0);
    assert_int_equal(again.size, expected.size);
    free(again.bytes);
    free(found.bytes);
    free(expected.bytes);
}

static void the_records_are_those_of_single_loads(void **state)
{
    (void)state;
    /* About 600 KiB: a block's worth each. */
    check_same(JITDUMP_FLUSH_WRITE_THROUGH, false, 14);
    check_same(JITDUMP_FLUSH_BUFFERED, false, 14);
    check_same(JITDUMP_FLUSH_BACKGROUND, false, 14);
    check_same(JITDUMP_FLUSH_WRITE_THROUGH, true, 20);
}

static void one_that_is_wrong_is_left_out(void **state)
{
    (void)state;
    struct jitdump_code codes[6];
    uint64_t indices[6];
    for (int i = 0; i < 6; i++)
        codes[i] = function(i, false);
    codes[2].name = NULL;
    codes[4].code_size = UINT32_MAX;
    struct jitdump *dump = open_dump((struct jitdump_options){.flags = 0});
    assert_int_equal(jitdump_load_many(dump, codes, 6, indices), JITDUMP_ERROR_NAME_MISSING);
    for (int i = 0; i < 6; i++)
        assert_int_equal(indices[i] == 0, i == 2 || i == 4);
    /* Of another size than the first: not of the array. */
    codes[2].name = "f";
    codes[4].code_size = 4;
    codes[3].struct_size -= 8;
    assert_int_equal(jitdump_load_many(dump, codes, 6, indices), JITDUMP_ERROR_STRUCT_SIZE);
    for (int i = 0; i < 6; i++)
        assert_int_equal(indices[i] == 0, i == 3);
    struct contents file = close_and_read(dump, 0);
    free(file.bytes);
}

/* As an older or newer program has the struct. */
static void structs_of_other_sizes(void **state)
{
    (void)state;
    const size_t sizes[] = {offsetof(struct jitdump_code, lines), sizeof(struct jitdump_code) + 16};
    for (int n = 0; n < 2; n++) {
        unsigned char *codes = calloc(3, sizes[n]);
        assert_non_null(codes);
        for (int i = 0; i < 3; i++) {
            struct jitdump_code code = function(3 * i + 1, false);
            code.struct_size = (uint32_t)sizes[n];
            memcpy(codes + (size_t)i * sizes[n], &code, sizes[n] < sizeof(code) ? sizes[n] : sizeof(code));
        }
        uint64_t indices[3];
        struct jitdump *dump = open_dump((struct jitdump_options){.flags = 0});
        assert_int_equal(jitdump_load_many(dump, (const struct jitdump_code *)(void *)codes, 3, indices), 0);
        struct contents file = close_and_read(dump, 0);
        normalize(&file, indices);
        free(file.bytes);
        free(codes);
    }
}

/* As many as one by one, and then the sticky error. */
static void the_size_limit_holds(void **state)
{
    (void)state;
    static struct jitdump_code codes[MANY];
    static uint64_t single[MANY], many[MANY];
    const struct jitdump_options options = {.size_limit = 150000};
    struct jitdump *dump = open_dump(options);
    int error = 0;
    for (int i = 0; i < MANY; i++) {
        codes[i] = function(i, false);
        const int result = jitdump_load(dump, &codes[i], &single[i]);
        error = error != 0 ? error : result;
    }
    assert_int_equal(error, JITDUMP_ERROR_SIZE_LIMIT);
    struct contents expected = close_and_read(dump, JITDUMP_ERROR_SIZE_LIMIT);
    dump = open_dump(options);
    assert_int_equal(jitdump_load_many(dump, codes, MANY, many), JITDUMP_ERROR_SIZE_LIMIT);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(single[i] == 0, many[i] == 0);
    assert_int_equal(jitdump_load_many(dump, codes, MANY, many), JITDUMP_ERROR_SIZE_LIMIT);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(many[i], 0);
    assert_int_equal(jitdump_close(dump), JITDUMP_ERROR_SIZE_LIMIT);
    /* That the dump is out of use counts for more than a function that was wrong. */
    dump = open_dump(options);
    codes[3].name = NULL;
    assert_int_equal(jitdump_load_many(dump, codes, MANY, many), JITDUMP_ERROR_SIZE_LIMIT);
    assert_int_equal(jitdump_close(dump), JITDUMP_ERROR_SIZE_LIMIT);
    codes[3] = function(3, false);
    dump = open_dump(options);
    assert_int_equal(jitdump_load_many(dump, codes, MANY, many), JITDUMP_ERROR_SIZE_LIMIT);
    struct contents found = close_and_read(dump, JITDUMP_ERROR_SIZE_LIMIT);
    assert_int_equal(found.size, expected.size);
    free(found.bytes);
    free(expected.bytes);
}

static void few_and_none(void **state)
{
    (void)state;
    const struct jitdump_code code = function(1, false);
    uint64_t index = 7;
    assert_int_equal(jitdump_load_many(NULL, &code, 1, &index), 0);
    assert_int_equal(index, 0);
    struct jitdump *dump = open_dump((struct jitdump_options){.flags = 0});
    assert_int_equal(jitdump_load_many(dump, NULL, 0, NULL), 0);
    index = 7;
    assert_int_equal(jitdump_load_many(dump, NULL, 1, &index), JITDUMP_ERROR_ARGUMENT);
    assert_int_equal(index, 0);
    assert_int_equal(jitdump_load_many(dump, &code, 1, &index), 0);
    assert_int_not_equal(index, 0);
    assert_int_equal(jitdump_close(dump), 0);
}

static struct contents perf_map_of(const struct jitdump_code *codes, uint64_t *indices, bool many)
{
    struct jitdump *dump = open_dump((struct jitdump_options){
        .flags = JITDUMP_PERF_MAP | JITDUMP_UNLINK_AT_CLOSE});
    writes = 0;
    if (many)
        assert_int_equal(jitdump_load_many(dump, codes, MANY, indices), 0);
    for (int i = 0; !many && i < MANY; i++)
        assert_int_equal(jitdump_load(dump, &codes[i], &indices[i]), 0);
    assert_int_equal(jitdump_move(dump, indices[5], codes[5].code_addr, 0x77, codes[5].code_size), 0);
    struct contents map = read_file(perf_map_path(getpid()));
    assert_int_equal(jitdump_close(dump), 0);
    return map;
}

static void the_perf_map_has_the_same_lines_in_as_many_writes(void **state)
{
    (void)state;
    static struct jitdump_code codes[MANY];
    static uint64_t indices[MANY];
    for (int i = 0; i < MANY; i++)
        codes[i] = function(i, true);
    struct contents expected = perf_map_of(codes, indices, false);
    assert_in_range(writes, 2 * MANY, 2 * MANY + 10);
    struct contents found = perf_map_of(codes, indices, true);
    /* As many for the map as for the dump, at most. */
    assert_in_range(writes, 2, 2 * 20);
    assert_int_equal(found.size, expected.size);
    assert_memory_equal(found.bytes, expected.bytes, found.size);
    free(found.bytes);
    free(expected.bytes);
}

/* What is said on standard error meanwhile. */
static char *said_of(const struct jitdump_code *codes, uint64_t count, bool many)
{
    char path[] = "stderr";
    const int kept = dup(STDERR_FILENO);
    assert_non_null(freopen(path, "w", stderr));
    struct jitdump *dump = open_dump((struct jitdump_options){.flags = JITDUMP_DEBUG});
    if (many)
        assert_int_equal(jitdump_load_many(dump, codes, count, NULL), 0);
    for (uint64_t i = 0; !many && i < count; i++)
        assert_int_equal(jitdump_load(dump, &codes[i], NULL), 0);
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    close(kept);
    struct contents said = read_file(path);
    assert_int_equal(unlink(path), 0);
    char *text = realloc(said.bytes, said.size + 1);
    text[said.size] = '\0';
    return text;
}

static void who_takes_anothers_room_is_told(void **state)
{
    (void)state;
    assert_int_equal(chdir(directory), 0);
    struct jitdump_code codes[4];
    for (int i = 0; i < 4; i++) {
        codes[i] = function(3 * i + 3, false);
        codes[i].unwind = &standard;
        codes[i].lines = NULL;
        codes[i].line_count = 0;
        codes[i].code_size = 16;
    }
    for (int many = 0; many < 2; many++) {
        /* With 80 bytes of room each. */
        for (uint64_t i = 0; i < 4; i++)
            codes[i].code_addr = 0x1000 + i * 96;
        char *said = said_of(codes, 4, many);
        assert_string_equal(said, "");
        free(said);
        codes[2].code_addr--; /* into the room of the one before */
        said = said_of(codes, 4, many);
        assert_non_null(strstr(said, "function 9 lies in the room behind function 6, at 0x10bf"));
        assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
        free(said);
        codes[2].code_addr++;
        codes[3].code_addr = 0xfc0; /* its room reaches into the first */
        said = said_of(codes, 4, many);
        assert_non_null(strstr(said, "the room behind function 12, at 0xfd0, reaches into function 3"));
        assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
        free(said);
        /* In place of another: that one's room is nobody's any more. */
        codes[1] = codes[0];
        codes[1].unwind = NULL;
        codes[2].code_addr = codes[0].code_addr + 16;
        said = said_of(codes, 3, many);
        assert_string_equal(said, "");
        free(said);
        codes[1] = function(6, false);
        codes[1].unwind = &standard;
        codes[1].code_size = 16;
        codes[1].lines = NULL;
        codes[1].line_count = 0;
    }
    assert_int_equal(chdir("/"), 0);
}

int main(void)
{
    for (int i = 0; i < 3000; i++)
        track_positions[i] = (struct jitdump_position){0, 1 + (uint32_t)i, 0, JITDUMP_NONE};
    for (size_t i = 0; i < sizeof(code_bytes); i++)
        code_bytes[i] = (unsigned char)(i * 7 + i / 256);
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(the_records_are_those_of_single_loads),
        unit_test_in_directory(one_that_is_wrong_is_left_out),
        unit_test_in_directory(structs_of_other_sizes),
        unit_test_in_directory(the_size_limit_holds),
        unit_test_in_directory(few_and_none),
        unit_test_in_directory(the_perf_map_has_the_same_lines_in_as_many_writes),
        unit_test_in_directory(who_takes_anothers_room_is_told),
    };
    return cmocka_run_group_tests_name("load_many", tests, NULL, NULL);
}
