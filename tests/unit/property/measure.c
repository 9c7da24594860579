/* How long the encodings take and how many bytes they are, from 10 to 1 000 000 positions: the
 * figures of docs/debug-info.md. Prints, asserts nothing.
 *
 * Each position has one offset. Shapes: "flat", nothing is inlined; "usual", trees of calls up to
 * 4 deep, 8 positions a call; "deep", chains 500 deep, gone down step by step; "worst", from
 * the top of a chain 100 deep to its bottom, or back, at each offset.
 */
#define _GNU_SOURCE
#include "encode/debug_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FUNCTIONS = 50 };
enum shape { FLAT, USUAL, DEEP, WORST, SHAPES };

static const char *const shape_names[] = {"flat", "usual", "deep", "worst"};
static const char *const dialect_names[] = {"perf", "2023", "2026"};

static struct jitdump_function functions[FUNCTIONS];

static uint32_t caller_of(enum shape shape, uint32_t i)
{
    switch (shape) {
    case USUAL:
        /* Blocks of 8 positions; each block is a call at a position of an earlier one. */
        return i / 8 % 4 == 0 ? JITDUMP_NONE : i / 8 * 8 - 4;
    case DEEP:
        return i % 500 == 0 ? JITDUMP_NONE : i - 1;
    case WORST:
        return i == 0 ? JITDUMP_NONE : i < 100 ? i - 1 : 99;
    default:
        return JITDUMP_NONE;
    }
}

static uint32_t position_at(enum shape shape, uint32_t i, uint32_t count)
{
    if (shape == WORST)
        return i % 2 == 0 ? 0 : count - 1 - i / 2;
    return i;
}

static void fill(enum shape shape, uint32_t count, struct jitdump_position *positions,
                 struct jitdump_offset *offsets)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t caller = caller_of(shape, i);
        positions[i] = (struct jitdump_position){
            caller == JITDUMP_NONE ? 0 : 1 + caller % (FUNCTIONS - 1), i % 1000 + 1, i % 40 + 1,
            caller};
        offsets[i] = (struct jitdump_offset){4 * i, position_at(shape, i, count)};
    }
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Check and write, the best of as many times as take a fifth of a second. */
static void measure(enum shape shape, uint32_t count, enum jitdump_dialect dialect,
                    const struct jitdump_code *code)
{
    const struct debug_info_settings settings = {.dialect = dialect, .track = ""};
    const struct record_stamp stamp = {.timestamp = 1};
    uint64_t best = UINT64_MAX, size = 0, allocated = 0;
    unsigned char *bytes = NULL;
    for (const uint64_t start = now(); best == UINT64_MAX || now() - start < 200000000;) {
        const uint64_t before = now();
        struct debug_info info;
        struct scratch scratch;
        scratch_init(&scratch);
        if (jd_debug_info_check(&info, &settings, code, &scratch, &size) != 0)
            abort();
        if (bytes == NULL) {
            bytes = malloc((size_t)size);
            if (bytes == NULL)
                abort();
            allocated = scratch.allocated != NULL;
            jd_debug_info_write(bytes, &stamp, &info); /* which makes the pages real */
        } else {
            jd_debug_info_write(bytes, &stamp, &info);
            const uint64_t time = now() - before;
            best = time < best ? time : best;
        }
        scratch_free(&scratch);
    }
    free(bytes);
    printf("%-6s %-5s %8u %11.2f %12.1f %s\n", shape_names[shape], dialect_names[dialect], count,
           (double)best / count, (double)size / count, allocated ? "allocated" : "");
}

int main(void)
{
    static char names[FUNCTIONS][40];
    for (int i = 0; i < FUNCTIONS; i++) {
        snprintf(names[i], sizeof(names[i]), "function_number_%d", i);
        functions[i] = (struct jitdump_function){names[i], "/home/user/project/src/program.js",
                                                 (uint32_t)i, 1, 0, 0, 0, 0};
    }
    struct jitdump_position *positions = malloc(1000000 * sizeof(*positions));
    struct jitdump_offset *offsets = malloc(1000000 * sizeof(*offsets));
    if (positions == NULL || offsets == NULL)
        abort();
    puts("shape  form  positions ns/position bytes/position");
    for (int shape = FLAT; shape < SHAPES; shape++)
        for (int dialect = 0; dialect < 3; dialect++)
            for (uint32_t count = 10; count <= 1000000; count *= 10) {
                fill((enum shape)shape, count, positions, offsets);
                const struct jitdump_track track = {
                    sizeof(track), 0, NULL, functions, FUNCTIONS, positions, count, offsets, count};
                const struct jitdump_code code = {
                    .code_size = 4 * (uint64_t)count, .tracks = &track, .track_count = 1};
                measure((enum shape)shape, count, (enum jitdump_dialect)dialect, &code);
            }
    free(positions);
    free(offsets);
    return 0;
}
