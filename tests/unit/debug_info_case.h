/*
 * What the tests of descriptions of inlining have in common.
 */
#ifndef DEBUG_INFO_CASE_H
#define DEBUG_INFO_CASE_H

#include "temporary.h"

#include "encode/debug_info.h"

/*
 * main (a.js, from 1:1) calls add (b.js, from 10:5) at 2:3 and at 3:1; both calls are inlined.
 * In the first, native, which has no file, is inlined at 11:7. The first call's code is in
 * three pieces.
 *
 *      0 main 2:3
 *      4 main 2:3 > add 11:7
 *      8 main 3:1
 *     12 main 2:3 > add 11:7
 *     16 main 3:1 > add 11:7
 *     20 main 2:3 > add 11:7 > native
 *     24 (nothing)
 *     28 main 2:3
 *     32 end
 */
static const struct jitdump_function functions[] = {
    {"main", "a.js", 1, 1, 0, 0, 0, 0},
    {"unused", "c.js", 1, 1, 0, 0, 0, 0},
    {"add", "b.js", 10, 5, 9, 0, 0, 0},
    {"native", NULL, 0, 0, 0, 0, 0, 0},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline struct jitdump_code code_of(const struct jitdump_track *tracks, uint64_t track_count)
{
    return (struct jitdump_code){
        .code_addr = 0x40000, .code_size = 32, .tracks = tracks, .track_count = track_count};
}

/* In each dialect alike. */
static inline int check(const struct jitdump_code *code)
{
    int results[3];
    for (int dialect = JITDUMP_DIALECT_PERF; dialect <= JITDUMP_DIALECT_SAMPLY_2026; dialect++) {
        const struct debug_info_settings settings = {
            .track = "", .dialect = (enum jitdump_dialect)dialect, .strict = true};
        struct scratch scratch;
        scratch_init(&scratch);
        struct debug_info info;
        uint64_t size;
        results[dialect] = jd_debug_info_check(&info, &settings, code, &scratch, &size);
        scratch_free(&scratch);
    }
    assert_int_equal(results[0], results[1]);
    assert_int_equal(results[0], results[2]);
    return results[0];
}

#endif
