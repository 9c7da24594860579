/* Descriptions of inlining that are deep, long, or more than a record takes. */
#include "debug_info_case.h"

#include <stdlib.h>
#include <sys/mman.h>

/* A chain of positions, each inlined at the one before. */
static struct jitdump_position *chain(size_t count)
{
    struct jitdump_position *list = calloc(count, sizeof(*list));
    assert_non_null(list);
    for (uint32_t i = 0; i < count; i++)
        list[i] = (struct jitdump_position){0, i + 1, 1, i == 0 ? JITDUMP_NONE : i - 1};
    return list;
}

static void inlining_has_a_greatest_depth(void **state)
{
    (void)state;
    struct jitdump_position *list = chain(JITDUMP_INLINE_DEPTH_MAX + 2);
    const struct jitdump_offset table[] = {{0, 0}};
    struct jitdump_track track = {
        sizeof(track), 0, NULL, functions, 1, list, JITDUMP_INLINE_DEPTH_MAX + 1, table, 1};
    const struct jitdump_code code = code_of(&track, 1);
    assert_int_equal(check(&code), 0);
    track.position_count++;
    assert_int_equal(check(&code), JITDUMP_ERROR_POSITION_DEPTH);
    free(list);
}

/* Lines of a file with a name of a mebibyte: 4 GiB at 4096 entries. For the
 * inline record, each step from the bottom of a deep chain to its top has a range for each
 * call: 8 bytes for each of 1023 calls at each other offset. */
static void records_are_at_most_4_gib(void **state)
{
    (void)state;
    char *name = malloc((1 << 20) + 1);
    assert_non_null(name);
    memset(name, 'n', 1 << 20);
    name[1 << 20] = '\0';
    const struct jitdump_function far[] = {{"f", name, 1, 1, 0, 0, 0, 0}};
    struct jitdump_position *list = chain(JITDUMP_INLINE_DEPTH_MAX + 1);
    struct jitdump_offset *table = calloc(1100000, sizeof(*table));
    assert_non_null(table);
    for (uint32_t i = 0; i < 1100000; i++)
        table[i] = (struct jitdump_offset){i, i % 2 == 0 ? 0 : JITDUMP_INLINE_DEPTH_MAX};
    struct jitdump_track track = {
        sizeof(track), 0, NULL, far, 1, list, JITDUMP_INLINE_DEPTH_MAX + 1, table, 4095};
    struct jitdump_code code = code_of(&track, 1);
    code.code_size = 1100000;
    assert_int_equal(check(&code), JITDUMP_ERROR_RECORD_SIZE);
    track.offset_count = 4094;
    assert_int_equal(check(&code), 0);

    track.functions = functions;
    track.offset_count = 1100000;
    const struct debug_info_settings settings = {.track = "",
                                                 .dialect = JITDUMP_DIALECT_SAMPLY_2023};
    struct scratch scratch;
    scratch_init(&scratch);
    struct debug_info info;
    uint64_t size;
    assert_int_equal(jd_debug_info_check(&info, &settings, &code, &scratch, &size),
                     JITDUMP_ERROR_RECORD_SIZE);
    scratch_free(&scratch);
    free(table);
    free(list);
    free(name);
}

/* 2^28 line records have 4 GiB, which is 0 in 32 bits; the offsets that they come from, 2 GiB. */
static void a_sum_of_more_than_4_gib_is_noticed(void **state)
{
    (void)state;
    if (sizeof(size_t) > sizeof(uint32_t)) {
        print_message("skipped: for 32-bit processes\n");
        skip();
    }
    const size_t size = (size_t)1 << 31;
    struct jitdump_offset *table = map_repeated(size);
    for (uint32_t i = 0; i < REPEATED_SIZE / sizeof(*table); i++)
        table[i] = (struct jitdump_offset){i, i % 2};
    const struct jitdump_position list[] = {{0, 1, 1, JITDUMP_NONE}, {0, 2, 1, JITDUMP_NONE}};
    const uint32_t depth[] = {0, 0};
    const struct track track = {.functions = functions,
                                .positions = list,
                                .offsets = table,
                                .function_count = 1,
                                .position_count = 2,
                                .offset_count = (uint32_t)(size / sizeof(*table)),
                                .code_size = JITDUMP_CODE_SIZE_MAX,
                                .depth = depth};
    struct scratch scratch;
    scratch_init(&scratch);
    struct inline_2023 info;
    uint64_t record_size;
    assert_true(scratch_reserve(&scratch, jd_inline_2023_words(&track)));
    assert_int_equal(jd_inline_2023_measure(&info, &track, &(struct file_names){NULL, 0},
                                            &scratch, &record_size),
                     JITDUMP_ERROR_RECORD_SIZE);
    scratch_free(&scratch);
    munmap(table, size);
}

/* The bounds that the documentation gives for working without an allocation. */
static void some_hundred_positions_need_no_allocation(void **state)
{
    (void)state;
    static const struct {
        struct debug_info_settings settings;
        uint32_t functions, positions;
    } cases[] = {
        {{.track = "", .dialect = JITDUMP_DIALECT_PERF}, 400, 4096},
        {{.track = "", .outermost = true}, 400, 2048},
        {{.track = "", .dialect = JITDUMP_DIALECT_SAMPLY_2023}, 180, 180},
        {{.track = "", .dialect = JITDUMP_DIALECT_SAMPLY_2023}, 20, 350},
        {{.track = "", .dialect = JITDUMP_DIALECT_SAMPLY_2026}, 340, 340},
        {{.track = "", .dialect = JITDUMP_DIALECT_SAMPLY_2026}, 20, 1900},
    };
    struct jitdump_function list[400];
    for (size_t i = 0; i < COUNT(list); i++)
        list[i] = functions[0];
    struct jitdump_position *broad = chain(4096);
    const struct jitdump_offset table[] = {{0, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (uint32_t j = 1; j < cases[i].positions; j++)
            broad[j] = (struct jitdump_position){j % cases[i].functions, 1, 1, 0};
        const struct jitdump_track track = {
            sizeof(track), 0, NULL, list, cases[i].functions, broad, cases[i].positions, table, 1};
        const struct jitdump_code code = code_of(&track, 1);
        struct scratch scratch;
        scratch_init(&scratch);
        struct debug_info info;
        uint64_t size;
        assert_int_equal(jd_debug_info_check(&info, &cases[i].settings, &code, &scratch, &size), 0);
        assert_null(scratch.allocated);
    }
    free(broad);
}

/* With an argument: what takes an emulator minutes. */
int main(int argc, char **argv)
{
    (void)argv;
    const struct CMUnitTest large[] = {
        cmocka_unit_test(records_are_at_most_4_gib),
        cmocka_unit_test(a_sum_of_more_than_4_gib_is_noticed),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inlining_has_a_greatest_depth),
        cmocka_unit_test(some_hundred_positions_need_no_allocation),
    };
    return argc > 1 ? cmocka_run_group_tests(large, NULL, NULL)
                    : cmocka_run_group_tests(tests, NULL, NULL);
}
