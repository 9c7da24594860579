#include "options.h"

#include <string.h>

static uint64_t take_option(struct input *input, const uint64_t choices[4])
{
    const uint8_t choice = take_u8(input);
    return choice < 240 ? choices[choice & 3] : take_hostile(input);
}

struct jitdump_options take_options(struct input *input, struct description *strings)
{
    static const uint64_t sizes[4] = {0, 4096, 5000, 100000};
    static const uint64_t intervals[4] = {0, 1, 1000000, UINT64_C(3600000000000)};
    static const uint64_t limits[4] = {0, 0, 4096, 60000};
    static const uint32_t machines[4] = {0, 62, 183, 243};
    const uint8_t bits = take_u8(input), modes = take_u8(input);
    struct jitdump_options options = {
        .struct_size = sizeof(options),
        .flags = bits & 15,
        .flush_mode = (modes & 3) % 3,
        .dialect = (modes >> 2 & 3) % 3,
        .elf_mach = machines[modes >> 4 & 3],
        .flush_bytes = take_option(input, sizes),
        .flush_interval_ns = take_option(input, intervals),
        .size_limit = take_option(input, limits),
    };
    if ((bits & 0x30) == 0x30)
        options.flags |= JITDUMP_PERF_MAP;
    if ((bits & 0x30) == 0x20)
        options.flags |= JITDUMP_EMPTY_AT_CLOSE;
    if ((bits & 0x40) == 0 && options.dialect == JITDUMP_DIALECT_SAMPLY_2023)
        options.flags |= JITDUMP_TIER_RECORDS;
    if ((bits & 0xc0) == 0xc0)
        options.track = take_string(strings, input);
    if ((modes & 0xc0) != 0xc0)
        return options;
    uint32_t *const fields[] = {&options.struct_size, &options.flags, &options.clock,
                                &options.flush_mode,  &options.elf_mach, &options.dialect};
    const uint8_t field = take_u8(input);
    *fields[field % 6] = field < 128 ? (uint32_t)take_hostile(input) : take_u8(input);
    /* The model knows one dump to a handle, and the fork handlers are all that a child has here. */
    options.flags &= ~(uint32_t)(JITDUMP_SHARED | JITDUMP_NO_ATFORK);
    return options;
}

const char *take_directory(struct input *input, const char *usual)
{
    static char path[5000];
    const uint8_t choice = take_u8(input);
    if (choice < 240)
        return usual;
    switch (choice & 3) {
    case 0:
        return "/nowhere";
    case 1:
        return "/dev/null";
    case 2:
        memset(path, 'x', sizeof(path) - 1);
        return path;
    default:
        return NULL; /* the one where we are */
    }
}
