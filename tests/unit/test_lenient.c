/* Line tables as compilers make them: what is kept of them says, at each byte of the code, what the table
 * says; in both forms of it the same. And tracks: with equal offsets and some that are outside, as if
 * these were not there. */
#include "temporary.h"

#include "encode/function_records.h"

#include <stdlib.h>
#include <string.h>

enum { CODE_SIZE_MAX = 24, ENTRIES_MAX = 30, TABLES = 30000 };

static const struct record_stamp stamp = {.timestamp = 1, .code_index = 2, .elf_mach = 62};
static const struct tiers no_tiers;
static const char *const names[] = {"a.c", "b.c", "", NULL, "c.c"};
static const char unterminated[] = "a.cb.cc.c"; /* the names of files, without NULs */
static const struct jitdump_string strings[] = {
    {unterminated, 3}, {unterminated + 3, 3}, {unterminated, 0}, {NULL, 0}, {unterminated + 6, 3}};
enum { NAMES = 5 };

struct table {
    uint64_t code_size;
    uint64_t count;
    struct jitdump_line lines[ENTRIES_MAX];
    struct jitdump_line_row rows[ENTRIES_MAX];
    bool clean; /* nothing in it is to be put right */
};

static uint32_t below(uint32_t limit)
{
    return (uint32_t)rand() % limit;
}

static struct table random_table(uint64_t code_addr)
{
    struct table table = {.code_size = below(CODE_SIZE_MAX), .count = below(ENTRIES_MAX), .clean = true};
    const uint32_t messy = below(3);
    uint64_t offset = below(3);
    for (uint64_t i = 0; i < table.count; i++) {
        const uint32_t file = messy == 2 ? below(NAMES) : below(2), column = below(4);
        const uint32_t line = messy != 0 ? below(3) : 1 + below(3);
        table.lines[i] = (struct jitdump_line){code_addr + offset, line, column, names[file]};
        table.rows[i] = (struct jitdump_line_row){
            (uint32_t)offset, file == 3 && below(2) ? JITDUMP_NONE : file, line, column};
        table.clean = table.clean && line != 0 && file != 2 && file != 3 && offset < table.code_size;
        const uint32_t step = messy != 0 ? below(4) : 1 + below(3);
        table.clean = table.clean && (step != 0 || i + 1 == table.count);
        offset += step;
    }
    return table;
}

/* What the table says of an offset; the line is 0 for none. */
static struct jitdump_line line_at(const struct table *table, uint64_t code_addr, uint64_t offset)
{
    struct jitdump_line found = {.line = 0};
    for (uint64_t i = 0; i < table->count; i++)
        if (table->lines[i].code_addr - code_addr <= offset)
            found = table->lines[i];
    if (found.file == NULL || found.file[0] == '\0')
        found.line = 0;
    return found;
}

/* What the record says: an entry holds up to the next, and the last only ends the table. */
static struct jitdump_line recorded_at(const unsigned char *record, uint64_t code_addr,
                                       uint64_t offset)
{
    struct jitdump_line found = {.line = 0};
    struct jit_code_debug_info head;
    memcpy(&head, record, sizeof(head));
    const unsigned char *at = record + sizeof(head);
    uint64_t before = 0;
    for (uint64_t i = 0; i < head.nr_entry; i++) {
        struct debug_entry entry;
        memcpy(&entry, at, sizeof(entry));
        assert_true(i == 0 || entry.code_addr > before);
        before = entry.code_addr;
        at += sizeof(entry);
        if (entry.code_addr - code_addr <= offset)
            found = (struct jitdump_line){entry.code_addr, i + 1 < head.nr_entry ? entry.line : 0,
                                          entry.discrim, (const char *)at};
        at += strlen((const char *)at) + 1;
    }
    assert_ptr_equal(at, record + head.header.total_size);
    return found;
}

/* The group's bytes up to the code, or the error. */
static int encode(const struct jitdump_code *code, bool strict, unsigned char *to, uint64_t *size)
{
    const struct debug_info_settings settings = {.track = "", .strict = strict};
    struct function_records record = {
        .code = code, .elf_mach = 62, .settings = &settings, .tiers = &no_tiers};
    const int error = jd_function_records_check(&record, size);
    if (error == 0)
        assert_ptr_equal(jd_function_records_write(to, &stamp, &record), to + *size);
    return error;
}

static void lines_are_kept_as_the_table_has_them(void **state)
{
    (void)state;
    srand(1);
    uint64_t clean = 0;
    for (int n = 0; n < TABLES; n++) {
        const uint64_t code_addr = 0x1000 - (n & 1 ? 0 : 0x800);
        const struct table table = random_table(code_addr);
        struct jitdump_code code = {.struct_size = sizeof(code),
                                    .name = "function",
                                    .code_addr = code_addr,
                                    .code_size = table.code_size,
                                    .lines = table.lines,
                                    .line_count = table.count};
        unsigned char written[4096], by_rows[4096];
        uint64_t size, rows_size;
        assert_int_equal(encode(&code, false, written, &size), 0);
        const bool has_lines = ((const struct jit_record_header *)(void *)written)->id ==
                               JIT_CODE_DEBUG_INFO;
        for (uint64_t offset = 0; offset < table.code_size; offset++) {
            const struct jitdump_line should = line_at(&table, code_addr, offset);
            const struct jitdump_line is = has_lines
                                               ? recorded_at(written, code_addr, offset)
                                               : (struct jitdump_line){.line = 0};
            assert_int_equal(is.line, should.line);
            if (should.line != 0) {
                assert_int_equal(is.column, should.column);
                assert_string_equal(is.file, should.file);
            }
        }
        /* Strict, the same if there was nothing to put right, else an error. */
        const int error = encode(&code, true, by_rows, &rows_size);
        assert_int_equal(error == 0, table.clean);
        clean += error == 0;
        if (error == 0) {
            assert_int_equal(rows_size, size);
            assert_memory_equal(by_rows, written, (size_t)size);
        }
        /* The other form, and a name without NUL. */
        code.lines = NULL;
        code.line_count = 0;
        code.line_rows = table.rows;
        code.line_row_count = table.count;
        code.files = strings;
        code.file_count = NAMES;
        code.name = "functions of all kinds";
        code.name_size = strlen("function");
        assert_int_equal(encode(&code, false, by_rows, &rows_size), 0);
        assert_int_equal(rows_size, size);
        assert_memory_equal(by_rows, written, (size_t)size);
        assert_int_equal(encode(&code, true, by_rows, &rows_size), error);
    }
    assert_in_range(clean, TABLES / 20, TABLES);
}

static void what_can_not_be_right_is_an_error(void **state)
{
    (void)state;
    unsigned char written[1024];
    uint64_t size;
    struct jitdump_line_row rows[] = {{0, 0, 1, 0}, {4, 0, 2, 0}, {2, 0, 3, 0}};
    struct jitdump_code code = {.struct_size = sizeof(code),
                                .name = "f",
                                .code_addr = 0x1000,
                                .code_size = 16,
                                .line_rows = rows,
                                .line_row_count = 3,
                                .files = strings,
                                .file_count = NAMES};
    assert_int_equal(encode(&code, false, written, &size), JITDUMP_ERROR_LINES_ORDER);
    code.line_row_count = 2;
    assert_int_equal(encode(&code, false, written, &size), 0);
    /* Equal, with one between them that is left out. */
    rows[2].code_offset = 4;
    rows[1].code_offset = 99;
    rows[0].code_offset = 4;
    code.line_row_count = 3;
    assert_int_equal(encode(&code, false, written, &size), JITDUMP_ERROR_LINES_ORDER);
    rows[0].file = NAMES;
    code.line_row_count = 1;
    assert_int_equal(encode(&code, false, written, &size), JITDUMP_ERROR_LINE_FILE);
    code.files = NULL;
    assert_int_equal(encode(&code, false, written, &size), JITDUMP_ERROR_LINES_MISSING);
    code.files = strings;
    code.line_rows = NULL;
    assert_int_equal(encode(&code, false, written, &size), JITDUMP_ERROR_LINES_MISSING);
    const struct jitdump_line line = {0x1000, 1, 0, "f"};
    code.line_rows = rows;
    code.lines = &line;
    code.line_count = 1;
    assert_int_equal(encode(&code, false, written, &size), JITDUMP_ERROR_LINES_AND_TRACKS);
    code.line_row_count = 0;
    assert_int_equal(encode(&code, false, written, &size), 0);
}

static void a_name_ends_at_its_size_or_at_a_nul(void **state)
{
    (void)state;
    unsigned char written[1024];
    uint64_t size;
    struct jitdump_code code = {
        .struct_size = sizeof(code), .name = "name\0more", .code_addr = 0x1000, .code_size = 16};
    for (code.name_size = 0; code.name_size < 9; code.name_size++) {
        assert_int_equal(encode(&code, true, written, &size), 0);
        const char *name = (const char *)written + sizeof(struct jit_code_load);
        assert_int_equal(strlen(name), code.name_size == 0 || code.name_size > 4 ? 4 : code.name_size);
        assert_int_equal(sizeof(struct jit_code_load) + strlen(name) + 1, size);
        assert_memory_equal(name, "name", strlen(name));
    }
    code.name = "\0x";
    code.name_size = 2;
    assert_int_equal(encode(&code, true, written, &size), JITDUMP_ERROR_NAME_MISSING);
    code.name = NULL;
    assert_int_equal(encode(&code, true, written, &size), JITDUMP_ERROR_NAME_MISSING);
}

static void encode_track(const struct jitdump_track *track, int dialect, bool strict,
                         unsigned char *to, uint64_t *size)
{
    const struct debug_info_settings settings = {
        .track = "", .dialect = (enum jitdump_dialect)dialect, .strict = strict};
    const struct jitdump_code code = {.struct_size = sizeof(code),
                                      .name = "f",
                                      .code_addr = 0x1000,
                                      .code_size = CODE_SIZE_MAX,
                                      .tracks = track,
                                      .track_count = 1};
    struct scratch scratch;
    scratch_init(&scratch);
    struct function_records record = {.code = &code,
                                      .elf_mach = 62,
                                      .settings = &settings,
                                      .tiers = &no_tiers,
                                      .scratch = &scratch};
    assert_int_equal(jd_function_records_check(&record, size), 0);
    assert_ptr_equal(jd_function_records_write(to, &stamp, &record), to + *size);
    scratch_free(&scratch);
}

static void offsets_of_tracks_too(void **state)
{
    (void)state;
    srand(2);
    static const struct jitdump_function functions[] = {
        {"outer", "outer.c", 1, 1, 0, 0, 0, 0}, {"inner and more", "inner.c and more", 1, 1, 0, 5, 7, 0}};
    static const struct jitdump_position positions[] = {
        {0, 1, 1, JITDUMP_NONE}, {0, 2, 1, JITDUMP_NONE}, {1, 3, 1, 0}, {1, 4, 1, 1}};
    for (int n = 0; n < TABLES / 10; n++) {
        struct jitdump_offset messy[ENTRIES_MAX], clean[ENTRIES_MAX];
        struct jitdump_track track = {.struct_size = sizeof(track),
                                      .functions = functions,
                                      .function_count = 2,
                                      .positions = positions,
                                      .position_count = 4,
                                      .offsets = messy};
        const uint64_t count = 1 + below(ENTRIES_MAX - 1);
        uint64_t clean_count = 0;
        bool empty = true;
        uint32_t offset = 0;
        for (uint64_t i = 0; i < count; i++) {
            const uint32_t position = below(5);
            messy[i] = (struct jitdump_offset){offset, position < 4 ? position : JITDUMP_NONE};
            if (clean_count != 0 && clean[clean_count - 1].code_offset == offset)
                clean_count--;
            if (offset < CODE_SIZE_MAX)
                clean[clean_count++] = messy[i];
            offset += below(3);
        }
        for (uint64_t i = 0; i < clean_count; i++)
            empty = empty && clean[i].position == JITDUMP_NONE;
        for (int dialect = 0; dialect < 3; dialect++) {
            unsigned char expected[4096], written[4096];
            uint64_t expected_size, size;
            track.offsets = clean;
            track.offset_count = clean_count;
            encode_track(&track, dialect, !empty, expected, &expected_size);
            track.offsets = messy;
            track.offset_count = count;
            encode_track(&track, dialect, false, written, &size);
            assert_int_equal(size, expected_size);
            assert_memory_equal(written, expected, (size_t)size);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_kept_as_the_table_has_them),
        cmocka_unit_test(what_can_not_be_right_is_an_error),
        cmocka_unit_test(a_name_ends_at_its_size_or_at_a_nul),
        cmocka_unit_test(offsets_of_tracks_too),
    };
    return cmocka_run_group_tests_name("lenient", tests, NULL, NULL);
}
