/* A dump's times in the profile's clock, for each kind of both. */
#include "inject/profile_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MAPPED = 5000, OTHER_CLOCK = 7 };

struct example {
    uint64_t header_flags, attr_flags;
    int32_t clockid;
    bool has_conversion;
    uint64_t mapped; /* when the dump was, in the profile's clock; 0: before */
    uint64_t opened; /* says the header; the first record is of 1000 */
    enum clock_kind kind;
    uint64_t time_of_1000;
};

static struct profile_clock find(const struct example *example)
{
    struct perf_attr attr = {.flags = example->attr_flags, .clockid = example->clockid};
    const struct perf_data data = {.attrs = &attr, .attr_count = 1};
    const struct scanned_mapping mapping = {.time = example->mapped};
    struct profile_scan scan = {0};
    struct history history = {.first_timestamp = 1000};
    if (example->has_conversion) /* 3 / 2 nanoseconds a cycle, from 77 on */
        scan.conversion = (struct perf_conversion){.known = true, .shift = 1, .mult = 3, .zero = 77};
    history.reader.header.flags = example->header_flags;
    history.reader.header.timestamp = example->opened;
    return jd_profile_clock(&scan, &data, &history, &mapping);
}

static void each_kind(void **state)
{
    const uint64_t tsc = JITDUMP_FLAGS_ARCH_TIMESTAMP, given = PERF_ATTR_USE_CLOCKID;
    const int32_t monotonic = PERF_CLOCK_MONOTONIC;
    const struct example examples[] = {
        {0, given, monotonic, false, MAPPED, 900, CLOCK_SAME, 1000},
        {2, given | PERF_ATTR_SAMPLE_ID_ALL, monotonic, true, 0, 2000, CLOCK_SAME, 1000},
        {tsc, 0, 0, true, MAPPED, 900, CLOCK_CONVERTED, 77 + 1500},
        {tsc | 2, given, monotonic, true, 0, 900, CLOCK_CONVERTED, 77 + 1500},
        {tsc, 0, 0, false, MAPPED, 900, CLOCK_UNKNOWN, 0},
        {tsc, given, monotonic, false, MAPPED, 900, CLOCK_UNKNOWN, 0},
        /* perf's own clock, and another that was asked for: as if the dump was mapped when it was opened */
        {0, 0, 0, true, MAPPED, 900, CLOCK_INFERRED, MAPPED + 100},
        {0, given, OTHER_CLOCK, false, MAPPED, 900, CLOCK_INFERRED, MAPPED + 100},
        {0, PERF_ATTR_SAMPLE_ID_ALL, monotonic, false, MAPPED, 900, CLOCK_INFERRED, MAPPED + 100},
        {0, 0, 0, false, 1, 1000, CLOCK_INFERRED, 1}, /* the profile's clock is behind */
        /* The wall clock in the header: as if it was mapped when the first record was written. */
        {0, 0, 0, false, MAPPED, 1001, CLOCK_ROUGH, MAPPED},
        {0, given, OTHER_CLOCK, false, 1, UINT64_MAX, CLOCK_ROUGH, 1},
        /* The process was there before the recording. */
        {0, 0, 0, true, 0, 900, CLOCK_UNKNOWN, 0},
        {0, given, OTHER_CLOCK, false, 0, 2000, CLOCK_UNKNOWN, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        const struct profile_clock clock = find(&examples[i]);
        assert_int_equal(clock.kind, examples[i].kind);
        assert_int_equal(jd_profile_time(&clock, 1000), examples[i].time_of_1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_kind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
