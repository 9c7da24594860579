/* Tiers: what they add to the file and to names, in each dialect; and every refusal. */
#define _GNU_SOURCE
#include "samply_dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void a_tier_is_a_prefix_and_if_wanted_a_record(void **state)
{
    (void)state;
    for (int i = JITDUMP_DIALECT_PERF; i <= JITDUMP_DIALECT_SAMPLY_2026 + 1; i++) {
        const bool with_records = i > JITDUMP_DIALECT_SAMPLY_2026;
        struct jitdump *dump = with_records
                                   ? open_dump(JITDUMP_DIALECT_SAMPLY_2023, JITDUMP_TIER_RECORDS)
                                   : open_dump((enum jitdump_dialect)i, 0);
        uint32_t first, second;
        assert_int_equal(jitdump_add_tier(dump, "Ion", JITDUMP_COLOR_GREEN, "Ion: ", &first), 0);
        assert_int_equal(
            jitdump_add_tier(dump, "Baseline", JITDUMP_COLOR_BLUE, "Baseline: ", &second), 0);
        assert_int_equal(first, 1);
        assert_int_equal(second, 2);
        load_line(dump, second, NULL);
        load_line(dump, 0, NULL);
        assert_int_equal(jitdump_close(dump), 0);

        struct contents contents = read_file(dump_path(directory, getpid()));
        size_t at = HEADER;
        if (with_records) {
            const struct expected expected = tier_record();
            assert_next(&contents, &at, &expected);
        }
        assert_load(&contents, &at, "Baseline: f");
        assert_load(&contents, &at, "f");
        assert_int_equal(at + CLOSE, contents.size);
        free(contents.bytes);
    }
}

static void a_tier_needs_no_prefix_where_it_has_a_record(void **state)
{
    (void)state;
    struct jitdump *dump = open_dump(JITDUMP_DIALECT_SAMPLY_2023, JITDUMP_TIER_RECORDS);
    uint32_t tier;
    assert_int_equal(jitdump_add_tier(dump, "Ion", 0, "Ion: ", &tier), 0);
    assert_int_equal(jitdump_add_tier(dump, "Baseline", JITDUMP_COLOR_BLUE, NULL, &tier), 0);
    load_line(dump, tier, NULL);
    assert_int_equal(jitdump_close(dump), 0);
    struct contents contents = read_file(dump_path(directory, getpid()));
    size_t at = HEADER;
    const struct expected expected = tier_record();
    assert_next(&contents, &at, &expected);
    assert_load(&contents, &at, "f");
    free(contents.bytes);
}

static void a_tier_needs_a_prefix_where_it_has_no_record(void **state)
{
    (void)state;
    for (int dialect = JITDUMP_DIALECT_PERF; dialect <= JITDUMP_DIALECT_SAMPLY_2026; dialect++) {
        struct jitdump *dump = open_dump((enum jitdump_dialect)dialect, 0);
        uint32_t tier = 7;
        assert_int_equal(jitdump_add_tier(dump, "t", 1, NULL, &tier), JITDUMP_ERROR_TIER_DIALECT);
        assert_int_equal(tier, 0);
        assert_int_equal(jitdump_add_tier(dump, "t", 1, "", &tier), JITDUMP_ERROR_TIER_DIALECT);
        assert_int_equal(jitdump_close(dump), 0);
    }
}

static void tier_records_are_of_one_dialect(void **state)
{
    (void)state;
    for (uint32_t dialect = 0; dialect <= JITDUMP_DIALECT_SAMPLY_2026; dialect++) {
        const struct jitdump_options options = {.struct_size = sizeof(options),
                                                .dialect = dialect,
                                                .flags = JITDUMP_TIER_RECORDS,
                                                .directory = directory};
        struct jitdump *dump;
        assert_int_equal(jitdump_open(&dump, &options), dialect == JITDUMP_DIALECT_SAMPLY_2023
                                                            ? 0
                                                            : JITDUMP_ERROR_OPTION);
        assert_int_equal(jitdump_close(dump), 0);
    }
}

/* Of the dialects, one is of no use to anybody today. */
static void who_asks_for_2023_is_warned(void **state)
{
    (void)state;
    static const struct {
        uint32_t dialect, flags;
        const char *warning;
    } cases[] = {
        {JITDUMP_DIALECT_PERF, 0, ""},
        {JITDUMP_DIALECT_SAMPLY_2023, 0, "JITDUMP_DIALECT_SAMPLY_2023: no profiler"},
        {JITDUMP_DIALECT_SAMPLY_2023, JITDUMP_TIER_RECORDS, "JITDUMP_TIER_RECORDS: no profiler"},
        {JITDUMP_DIALECT_SAMPLY_2026, 0, ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char message[256] = "as it was";
        struct jitdump_options options = {.struct_size = sizeof(options),
                                          .dialect = cases[i].dialect,
                                          .flags = cases[i].flags,
                                          .directory = directory,
                                          .error_message = message,
                                          .error_message_size = sizeof(message)};
        struct jitdump *dump;
        assert_int_equal(jitdump_open(&dump, &options), 0);
        assert_int_equal(jitdump_close(dump), 0);
        assert_memory_equal(message, cases[i].warning, strlen(cases[i].warning));
        assert_int_equal(strlen(message) != 0, strlen(cases[i].warning) != 0);
        assert_true(strlen(message) < sizeof(message) - 1); /* and there is room for it */
        options.error_message_size = 5;
        assert_int_equal(jitdump_open(&dump, &options), 0);
        assert_int_equal(jitdump_close(dump), 0);
        assert_true(strlen(message) <= 4);
    }
}

static void bad_tiers_have_errors_of_their_own(void **state)
{
    (void)state;
    struct jitdump *dump = open_dump(JITDUMP_DIALECT_SAMPLY_2026, 0);
    uint32_t tier = 7;
    assert_int_equal(jitdump_add_tier(dump, NULL, 1, "p", &tier), JITDUMP_ERROR_TIER_NAME);
    assert_int_equal(tier, 0);
    assert_int_equal(jitdump_add_tier(dump, "", 1, "p", &tier), JITDUMP_ERROR_TIER_NAME);
    assert_int_equal(jitdump_add_tier(dump, "t", 14, "p", &tier), JITDUMP_ERROR_TIER_COLOR);
    assert_int_equal(jitdump_add_tier(dump, "t", 1, "p", NULL), JITDUMP_ERROR_ARGUMENT);
    for (uint32_t i = 1; i <= JITDUMP_TIERS_MAX; i++) {
        assert_int_equal(jitdump_add_tier(dump, "t", 13, "p", &tier), 0);
        assert_int_equal(tier, i);
    }
    assert_int_equal(jitdump_add_tier(dump, "t", 13, "p", &tier), JITDUMP_ERROR_TIER_LIMIT);

    struct jitdump_code code = {.struct_size = sizeof(code), .name = "f"};
    code.tier = JITDUMP_TIERS_MAX + 1;
    assert_int_equal(jitdump_load(dump, &code, NULL), JITDUMP_ERROR_TIER);
    code.tier = JITDUMP_TIERS_MAX;
    assert_int_equal(jitdump_load(dump, &code, NULL), 0);
    assert_int_equal(jitdump_close(dump), 0);

    tier = 7;
    assert_int_equal(jitdump_add_tier(NULL, NULL, 99, NULL, &tier), 0);
    assert_int_equal(tier, 0);
    assert_int_equal(jitdump_embed_source(NULL, NULL, NULL, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(a_tier_is_a_prefix_and_if_wanted_a_record),
        unit_test_in_directory(a_tier_needs_a_prefix_where_it_has_no_record),
        unit_test_in_directory(tier_records_are_of_one_dialect),
        unit_test_in_directory(who_asks_for_2023_is_warned),
        unit_test_in_directory(a_tier_needs_no_prefix_where_it_has_a_record),
        unit_test_in_directory(bad_tiers_have_errors_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
