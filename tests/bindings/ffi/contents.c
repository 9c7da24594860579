/*
 * Uses all that the library can do, with another value in each field. A binding's test does the
 * same, and test_binding.py compares the two dumps. Usage: contents DIRECTORY
 */
#include <jitdump.h>

#include <stdio.h>
#include <stdlib.h>

enum { EM_X86_64 = 62 };

static void expect(int expected, int result)
{
    if (result == expected)
        return;
    fprintf(stderr, "contents: %s\n", jitdump_strerror(result));
    exit(1);
}

int main(int argc, char **argv)
{
    struct jitdump_options options = {
        .struct_size = sizeof(options),
        .flags = JITDUMP_OUTERMOST_LINES | JITDUMP_TIER_RECORDS,
        .flush_mode = JITDUMP_FLUSH_BUFFERED,
        .elf_mach = EM_X86_64,
        .dialect = JITDUMP_DIALECT_SAMPLY_2023,
        .flush_bytes = 4096,
        .flush_interval_ns = UINT64_C(3600000000000),
        .size_limit = 8192,
        .directory = argc == 2 ? argv[1] : NULL,
        .track = "second",
    };
    struct jitdump *dump;
    expect(0, jitdump_open(&dump, &options));
    /* With it, more than flush_bytes are in the dump, which shows in the code indices. */
    static const uint8_t zeros[8192];
    expect(0, jitdump_append_raw(dump, 1000, zeros, 3500));
    uint32_t first_tier, second_tier;
    expect(0, jitdump_add_tier(dump, "first", JITDUMP_COLOR_RED, NULL, &first_tier));
    expect(0, jitdump_add_tier(dump, "second", JITDUMP_COLOR_GREEN, "Second: ", &second_tier));
    expect(0, jitdump_embed_source(dump, "a.src", "one\ntwo\n", 8));

    uint8_t bytes[24];
    for (int i = 0; i < 24; i++)
        bytes[i] = (uint8_t)(i + 1);
    struct jitdump_line lines[] = {
        {.code_addr = 0x10000, .line = 1, .column = 2, .file = "a.src"},
        {.code_addr = 0x10008, .line = 3, .column = 4, .file = "b.src"},
    };
    struct jitdump_code with_lines = {
        .struct_size = sizeof(with_lines), .tier = first_tier, .name = "with lines",
        .code_addr = 0x10000, .code_size = 16, .code_bytes = bytes,
        .lines = lines, .line_count = 2,
    };
    expect(0, jitdump_load(dump, &with_lines, NULL));

    struct jitdump_unwind_step steps[] = {
        {.code_offset = 1, .op = JITDUMP_UNWIND_DEF_CFA, .reg = JITDUMP_X86_64_RSP, .offset = 16},
        {.code_offset = 1, .op = JITDUMP_UNWIND_OFFSET, .reg = JITDUMP_X86_64_RBX, .offset = -16},
        {.code_offset = 9, .op = JITDUMP_UNWIND_DEF_CFA, .reg = JITDUMP_X86_64_RSP, .offset = 8},
    };
    struct jitdump_unwind unwind = {
        .struct_size = sizeof(unwind), .frame = JITDUMP_FRAME_POINTER,
        .steps = steps, .step_count = 0,
    };
    struct jitdump_code with_frame = {
        .struct_size = sizeof(with_frame), .name = "with frame",
        .code_addr = 0x20000, .code_size = 24, .code_bytes = bytes, .unwind = &unwind,
    };
    expect(0, jitdump_load(dump, &with_frame, NULL));

    struct jitdump_function functions[] = {
        {.name = "outer", .file = "a.src", .start_line = 5, .start_column = 6, .flags = 7},
        {.name = "inner", .file = "b.src", .start_line = 8, .start_column = 9, .flags = 10},
    };
    struct jitdump_position positions[] = {
        {.function = 0, .line = 11, .column = 12, .caller = JITDUMP_NONE},
        {.function = 1, .line = 13, .column = 14, .caller = 0},
    };
    struct jitdump_offset offsets[] = {
        {.code_offset = 2, .position = 0},
        {.code_offset = 4, .position = 1},
    };
    struct jitdump_track tracks[] = {
        {.struct_size = sizeof(tracks[0]), .name = "first",
         .functions = functions, .function_count = 1, .positions = positions, .position_count = 1, .offsets = offsets, .offset_count = 1},
        {.struct_size = sizeof(tracks[0]), .name = "second",
         .functions = functions, .function_count = 2, .positions = positions, .position_count = 2, .offsets = offsets, .offset_count = 2},
    };
    unwind.frame = JITDUMP_FRAME_STEPS;
    unwind.step_count = 3;
    struct jitdump_code with_track = {
        .struct_size = sizeof(with_track), .tier = second_tier, .name = "with tr\xc3\xa4" "ck",
        .code_addr = 0x30000, .code_size = 16, .code_bytes = bytes,
        .unwind = &unwind, .tracks = tracks, .track_count = 2,
    };
    uint64_t index, unwind_size;
    expect(0, jitdump_load(dump, &with_track, &index));
    expect(0, jitdump_unwind_size(dump, &with_track, &unwind_size));
    expect(0, jitdump_move(dump, index, 0x30000, 0x40000, 16 + unwind_size));

    struct jitdump_code with_eh_frame = {
        .struct_size = sizeof(with_eh_frame), .name = "with eh_frame",
        .code_addr = 0x50000, .code_size = 16, .code_bytes = bytes,
        .eh_frame = bytes, .eh_frame_size = 24, .eh_frame_hdr = bytes, .eh_frame_hdr_size = 20,
    };
    expect(0, jitdump_load(dump, &with_eh_frame, NULL));

    uint8_t eh_frame[256];
    uint64_t eh_frame_size;
    expect(0, jitdump_unwind_eh_frame(EM_X86_64, &with_track, eh_frame, sizeof(eh_frame),
                                      &eh_frame_size));
    expect(0, jitdump_append_raw(dump, 1001, eh_frame, eh_frame_size));
    expect(0, jitdump_flush(dump));
    expect(0, jitdump_flush_from_signal(dump));

    expect(JITDUMP_ERROR_SIZE_LIMIT, jitdump_append_raw(dump, 1002, zeros, sizeof(zeros)));
    expect(JITDUMP_ERROR_SIZE_LIMIT, jitdump_close(dump));
    return 0;
}
