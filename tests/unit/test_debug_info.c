/* One description of inlining, its three encodings byte by byte, and every refusal. */
#include "debug_info_case.h"
#include "expected.h"

static const struct record_stamp stamp = {.timestamp = 0x1122334455667788};

static const struct jitdump_position positions[] = {
    {0, 2, 3, JITDUMP_NONE},
    {2, 11, 7, 0},
    {0, 99, 9, JITDUMP_NONE}, /* no offset leads to it */
    {0, 3, 1, JITDUMP_NONE},
    {2, 11, 7, 3},
    {1, 98, 8, 2}, /* nor to this */
    {3, 5, 6, 1},
};
static const struct jitdump_offset offsets[] = {
    {0, 0}, {4, 1}, {8, 3}, {12, 1}, {16, 4}, {20, 6}, {24, JITDUMP_NONE}, {28, 0},
};

static struct jitdump_track example_track(void)
{
    return (struct jitdump_track){.struct_size = sizeof(struct jitdump_track),
                                  .name = "source",
                                  .functions = functions,
                                  .function_count = COUNT(functions),
                                  .positions = positions,
                                  .position_count = COUNT(positions),
                                  .offsets = offsets,
                                  .offset_count = COUNT(offsets)};
}

static void expect_header(struct expected *expected, uint32_t id, uint32_t total_size)
{
    u32(expected, id);
    u32(expected, total_size);
    u64(expected, stamp.timestamp);
}

static void expect_entry(struct expected *expected, uint32_t offset, uint32_t line,
                         uint32_t column, const char *file)
{
    u64(expected, 0x40000 + offset);
    u32(expected, line);
    u32(expected, column);
    bytes(expected, file, strlen(file) + 1);
}

/* 32 bytes, and 7 entries of 16 and a name of 5. */
static void expect_innermost(struct expected *expected)
{
    expect_header(expected, 2, 32 + 7 * 21);
    u64(expected, 0x40000);
    u64(expected, 7);
    expect_entry(expected, 0, 2, 3, "a.js");
    expect_entry(expected, 4, 11, 7, "b.js");
    expect_entry(expected, 8, 3, 1, "a.js");
    expect_entry(expected, 12, 11, 7, "b.js"); /* and on over 16: the same line in another call */
    expect_entry(expected, 20, 0, 0, "b.js");  /* no line, for native and for nothing */
    expect_entry(expected, 28, 2, 3, "a.js");
    expect_entry(expected, 32, 2, 3, "a.js"); /* closes the table */
}

static void assert_encoded(const struct debug_info_settings *settings,
                           const struct jitdump_code *code, const struct expected *expected)
{
    unsigned char written[1024];
    memset(written, 0xee, sizeof(written));
    struct scratch scratch;
    scratch_init(&scratch);
    struct debug_info info;
    uint64_t size = 0;
    assert_int_equal(jd_debug_info_check(&info, settings, code, &scratch, &size), 0);
    assert_int_equal(size, expected->size);
    assert_ptr_equal(jd_debug_info_write(written, &stamp, &info), written + size);
    assert_memory_equal(written, expected->bytes, expected->size);
    assert_int_equal(written[size], 0xee);
    scratch_free(&scratch);
}

static void perf_gets_the_innermost_lines(void **state)
{
    (void)state;
    const struct debug_info_settings settings = {.track = ""};
    const struct jitdump_track track = example_track();
    const struct jitdump_code code = code_of(&track, 1);
    struct expected expected = {.size = 0};
    expect_innermost(&expected);
    assert_encoded(&settings, &code, &expected);
}

static void or_by_option_the_outermost(void **state)
{
    (void)state;
    const struct debug_info_settings settings = {.track = "", .outermost = true};
    const struct jitdump_track track = example_track();
    const struct jitdump_code code = code_of(&track, 1);
    struct expected expected = {.size = 0};
    expect_header(&expected, 2, 32 + 8 * 21);
    u64(&expected, 0x40000);
    u64(&expected, 8);
    expect_entry(&expected, 0, 2, 3, "a.js"); /* and on over 4 */
    expect_entry(&expected, 8, 3, 1, "a.js");
    expect_entry(&expected, 12, 2, 3, "a.js");
    expect_entry(&expected, 16, 3, 1, "a.js");
    expect_entry(&expected, 20, 2, 3, "a.js");
    expect_entry(&expected, 24, 0, 0, "a.js");
    expect_entry(&expected, 28, 2, 3, "a.js");
    expect_entry(&expected, 32, 2, 3, "a.js"); /* closes the table */
    assert_encoded(&settings, &code, &expected);
}

static void a_table_that_ends_without_line_needs_no_closing(void **state)
{
    (void)state;
    const struct debug_info_settings settings = {.track = ""};
    struct jitdump_track track = example_track();
    /* Code without position in front has no entry at all. */
    const struct jitdump_offset table[] = {{0, JITDUMP_NONE}, {4, 0}, {24, JITDUMP_NONE}};
    track.offsets = table;
    track.offset_count = COUNT(table);
    const struct jitdump_code code = code_of(&track, 1);
    struct expected expected = {.size = 0};
    expect_header(&expected, 2, 32 + 2 * 21);
    u64(&expected, 0x40000);
    u64(&expected, 2);
    expect_entry(&expected, 4, 2, 3, "a.js");
    expect_entry(&expected, 24, 0, 0, "a.js");
    assert_encoded(&settings, &code, &expected);
}

static void without_any_file_there_is_no_record(void **state)
{
    (void)state;
    const struct debug_info_settings settings = {.track = ""};
    const struct jitdump_function nowhere[] = {{"f", "", 1, 1, 0, 0, 0, 0}};
    const struct jitdump_position position[] = {{0, 1, 1, JITDUMP_NONE}};
    const struct jitdump_offset table[] = {{0, 0}};
    const struct jitdump_track track = {sizeof(track), 0, NULL, nowhere, 1, position, 1,
                                        table,         1};
    const struct jitdump_code code = code_of(&track, 1);
    const struct expected nothing = {.size = 0};
    assert_encoded(&settings, &code, &nothing);
}

static void the_inline_record_of_2023(void **state)
{
    (void)state;
    const struct debug_info_settings settings = {.track = "",
                                                 .dialect = JITDUMP_DIALECT_SAMPLY_2023};
    const struct jitdump_track track = example_track();
    const struct jitdump_code code = code_of(&track, 1);
    struct expected expected = {.size = 0};
    expect_innermost(&expected);

    /* Header 16 and eight counts; files 5 + 5 + 1, names 5 + 4 + 7, each rounded up to 4;
     * 3 functions of 20, 3 calls of 20, 5 ranges of 8, 6 lines of 16. */
    expect_header(&expected, 827346259, 48 + 12 + 16 + 60 + 60 + 40 + 96);
    const uint32_t counts[] = {3, 12, 3, 16, 3, 3, 5, 6};
    bytes(&expected, counts, sizeof(counts));
    bytes(&expected, "a.js\0b.js\0\0", 12); /* the last is native's, and a byte of padding */
    bytes(&expected, "main\0add\0native", 16);
    /* Name, file, start line, start column from 0, flags; the outer function first. */
    const uint32_t function_list[][5] = {{0, 0, 1, 0, 0}, {1, 1, 10, 4, 9}, {2, 2, 0, 0, 0}};
    bytes(&expected, function_list, sizeof(function_list));
    /* Depth, ranges, function, line and column (from 0) of the call. Depth first: native's call
     * comes before the second of add, which the positions have the other way round. */
    const uint32_t call_list[][5] = {{0, 3, 1, 2, 2}, {1, 1, 2, 11, 6}, {0, 1, 1, 3, 0}};
    bytes(&expected, call_list, sizeof(call_list));
    /* Start and size. The first call's last range has native's in it. */
    const uint32_t range_list[][2] = {{4, 4}, {12, 4}, {20, 4}, {20, 4}, {16, 4}};
    bytes(&expected, range_list, sizeof(range_list));
    /* Offset, file, line, column from 0; without line from 20 to 28. */
    const uint32_t line_list[][4] = {{0, 0, 2, 2},   {4, 1, 11, 6}, {8, 0, 3, 0},
                                     {12, 1, 11, 6}, {20, 1, 0, 0}, {28, 0, 2, 2}};
    bytes(&expected, line_list, sizeof(line_list));
    assert_encoded(&settings, &code, &expected);
}

static void the_inline_record_of_2026(void **state)
{
    (void)state;
    const struct debug_info_settings settings = {.track = "",
                                                 .dialect = JITDUMP_DIALECT_SAMPLY_2026};
    const struct jitdump_track track = example_track();
    const struct jitdump_code code = code_of(&track, 1);
    struct expected expected = {.size = 0};
    expect_innermost(&expected);

    /* Header 16, address and three counts of 8 each; 8 offsets of 8, 6 positions of 28, and
     * strings of 5 + 5 + 4 + 5 + 7, nothing padded. */
    expect_header(&expected, 827346260, 48 + 8 * 8 + 6 * 28 + 26);
    u64(&expected, 0x40000);
    u64(&expected, 8);
    u64(&expected, 6);
    u64(&expected, 5);
    /* Offset and position; position 5 says that there is none. */
    const uint32_t offset_list[][2] = {{0, 0},  {4, 1},  {8, 2},  {12, 1},
                                       {16, 3}, {20, 4}, {24, 5}, {28, 0}};
    bytes(&expected, offset_list, sizeof(offset_list));
    /* Caller, name, file, start line and column, line, column, the last four from 1. Positions 2
     * and 5 of the track are left out, and so the numbers after them move up. */
    const int32_t position_list[][7] = {
        {-1, 0, 1, 1, 1, 2, 3}, {0, 2, 3, 10, 5, 11, 7}, {-1, 0, 1, 1, 1, 3, 1},
        {2, 2, 3, 10, 5, 11, 7}, {1, 4, -1, 0, 0, 0, 0}, {-1, 0, 1, 1, 1, 0, 0}};
    bytes(&expected, position_list, sizeof(position_list));
    bytes(&expected, "main\0a.js\0add\0b.js\0native", 26);
    assert_encoded(&settings, &code, &expected);
}

/* Plain lines make no inline record. */
static void lines_alone_are_the_same_in_every_dialect(void **state)
{
    (void)state;
    const struct jitdump_line line = {0x40000, 7, 3, "a.js"};
    const struct jitdump_code code = {
        .code_addr = 0x40000, .code_size = 32, .lines = &line, .line_count = 1};
    struct expected expected = {.size = 0};
    expect_header(&expected, 2, 32 + 2 * 21);
    u64(&expected, 0x40000);
    u64(&expected, 2);
    expect_entry(&expected, 0, 7, 3, "a.js");
    expect_entry(&expected, 32, 7, 3, "a.js");
    for (int dialect = JITDUMP_DIALECT_PERF; dialect <= JITDUMP_DIALECT_SAMPLY_2026; dialect++) {
        const struct debug_info_settings settings = {.track = "",
                                                     .dialect = (enum jitdump_dialect)dialect};
        assert_encoded(&settings, &code, &expected);
    }
}

static void a_track_is_chosen_by_name(void **state)
{
    (void)state;
    struct jitdump_track tracks[3] = {example_track(), example_track(), example_track()};
    tracks[0].name = NULL;
    tracks[1].name = "bytecode";
    tracks[2].name = "ir";
    const struct jitdump_code code = code_of(tracks, 3);
    assert_ptr_equal(jd_track_choose(&code, "", NULL), &tracks[0]);
    assert_ptr_equal(jd_track_choose(&code, "bytecode", NULL), &tracks[1]);
    assert_ptr_equal(jd_track_choose(&code, "ir", NULL), &tracks[2]);
    assert_ptr_equal(jd_track_choose(&code, "none of the name", NULL), &tracks[0]);
    tracks[1].name = ""; /* which is none: where none is chosen, it is the first */
    assert_ptr_equal(jd_track_choose(&code, "", NULL), &tracks[0]);
}

static void bad_tracks_have_errors_of_their_own(void **state)
{
    (void)state;
    struct jitdump_track track = example_track();
    struct jitdump_function function_list[COUNT(functions)];
    struct jitdump_position position_list[COUNT(positions)];
    struct jitdump_offset offset_list[COUNT(offsets)];
    struct jitdump_code code = code_of(&track, 1);
#define CHECK_TRACK(error, change)                                                                 \
    do {                                                                                           \
        memcpy(function_list, functions, sizeof(functions));                                       \
        memcpy(position_list, positions, sizeof(positions));                                       \
        memcpy(offset_list, offsets, sizeof(offsets));                                             \
        track = (struct jitdump_track){sizeof(track),                                              \
                                       0,                                                          \
                                       "",                                                         \
                                       function_list,                                              \
                                       COUNT(functions),                                           \
                                       position_list,                                              \
                                       COUNT(positions),                                           \
                                       offset_list,                                                \
                                       COUNT(offsets)};                                            \
        change;                                                                                    \
        assert_int_equal(check(&code), error);                                                     \
    } while (0)
    CHECK_TRACK(0, (void)0);
    CHECK_TRACK(JITDUMP_ERROR_TRACK_MISSING, track.functions = NULL);
    CHECK_TRACK(JITDUMP_ERROR_TRACK_MISSING, track.positions = NULL);
    CHECK_TRACK(JITDUMP_ERROR_TRACK_MISSING, track.offsets = NULL);
    CHECK_TRACK(JITDUMP_ERROR_TRACK_COUNT, track.function_count = JITDUMP_TRACK_COUNT_MAX + 1);
    CHECK_TRACK(JITDUMP_ERROR_TRACK_COUNT, track.position_count = UINT64_MAX);
    CHECK_TRACK(JITDUMP_ERROR_TRACK_COUNT, track.offset_count = UINT64_C(1) << 32);
    CHECK_TRACK(JITDUMP_ERROR_TRACK_EMPTY, track.offset_count = 0);
    CHECK_TRACK(JITDUMP_ERROR_TRACK_EMPTY, {
        track.offset_count = 1;
        offset_list[0].position = JITDUMP_NONE;
    });
    CHECK_TRACK(JITDUMP_ERROR_OFFSETS_ORDER, offset_list[2].code_offset = 4);
    CHECK_TRACK(JITDUMP_ERROR_OFFSETS_ORDER, offset_list[2].code_offset = 3);
    CHECK_TRACK(JITDUMP_ERROR_OFFSETS_RANGE, offset_list[7].code_offset = 32);
    CHECK_TRACK(JITDUMP_ERROR_POSITION_INDEX, offset_list[3].position = COUNT(positions));
    CHECK_TRACK(JITDUMP_ERROR_POSITION_INDEX, offset_list[3].position = JITDUMP_NONE - 1);
    CHECK_TRACK(JITDUMP_ERROR_POSITION_FUNCTION, position_list[6].function = COUNT(functions));
    /* Itself, a later one, none at all, also of a position that nothing leads to. */
    CHECK_TRACK(JITDUMP_ERROR_POSITION_CALLER, position_list[4].caller = 4);
    CHECK_TRACK(JITDUMP_ERROR_POSITION_CALLER, position_list[1].caller = 6);
    CHECK_TRACK(JITDUMP_ERROR_POSITION_CALLER, position_list[5].caller = COUNT(positions));
    CHECK_TRACK(JITDUMP_ERROR_POSITION_CALLER, position_list[0].caller = 1);
    CHECK_TRACK(JITDUMP_ERROR_POSITION_OUTERMOST, position_list[6].caller = JITDUMP_NONE);
    CHECK_TRACK(JITDUMP_ERROR_FUNCTION_NAME, function_list[2].name = NULL);
    CHECK_TRACK(JITDUMP_ERROR_FUNCTION_NAME, function_list[2].name = "");
#undef CHECK_TRACK
    code.tracks = NULL;
    assert_int_equal(check(&code), JITDUMP_ERROR_TRACK_MISSING);
    const struct jitdump_line line = {0x40000, 7, 3, "a.js"};
    code.tracks = &track;
    code.lines = &line;
    code.line_count = 1;
    assert_int_equal(check(&code), JITDUMP_ERROR_LINES_AND_TRACKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perf_gets_the_innermost_lines),
        cmocka_unit_test(or_by_option_the_outermost),
        cmocka_unit_test(a_table_that_ends_without_line_needs_no_closing),
        cmocka_unit_test(without_any_file_there_is_no_record),
        cmocka_unit_test(the_inline_record_of_2023),
        cmocka_unit_test(the_inline_record_of_2026),
        cmocka_unit_test(lines_alone_are_the_same_in_every_dialect),
        cmocka_unit_test(a_track_is_chosen_by_name),
        cmocka_unit_test(bad_tracks_have_errors_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
