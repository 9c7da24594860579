/* Reads from standard input what a JIT does, and does it, by the public API alone. What the dump
 * must say is known to test_inlining.py and, for whole histories, to tests/jitdump_tests/histories.py.
 *
 *     encode DIRECTORY DIALECT FLAGS    (the numbers of jitdump.h)
 *
 *     load NAME CODE_ADDR DESCRIPTION
 *     many COUNT                          so many loads follow, which are made by one call
 *     move NUMBER CODE_ADDR               the function of that number, counted from 0, goes there
 *
 * A description is words of text; -1 is JITDUMP_NONE, and the file "-" is NULL:
 *
 *     CODE_SIZE FUNCTIONS POSITIONS OFFSETS
 *     NAME FILE START_LINE START_COLUMN FLAGS     for each function
 *     FUNCTION LINE COLUMN CALLER                 for each position
 *     CODE_OFFSET POSITION                        for each offset
 */
#include <jitdump.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 4096, NAME_SIZE = 64, LOADS_MAX = 100000, MANY_MAX = 64 };

static struct loaded {
    uint64_t code_addr;
    uint64_t code_size;
} loads[LOADS_MAX];
static uint64_t code_indices[LOADS_MAX];
static uint32_t load_count;

/* What is described at a time. */
static struct jitdump_code codes[MANY_MAX];
static struct jitdump_track tracks[MANY_MAX];
static void *owned[5 * MANY_MAX];
static uint32_t owned_count;

static void fail(const char *what)
{
    fprintf(stderr, "encode: %s\n", what);
    exit(1);
}

static uint32_t number(void)
{
    long long value;
    if (scanf("%lld", &value) != 1)
        fail("a number is missing");
    return (uint32_t)value;
}

static uint64_t address(void)
{
    unsigned long long value;
    if (scanf("%llu", &value) != 1)
        fail("an address is missing");
    return value;
}

static uint32_t count(uint32_t limit)
{
    const uint32_t value = number();
    if (value > limit)
        fail("a list is too long");
    return value;
}

static void *own(size_t size)
{
    void *const memory = calloc(1, size + 1);
    if (memory == NULL)
        fail("out of memory");
    return owned[owned_count++] = memory;
}

static void free_owned(void)
{
    while (owned_count > 0)
        free(owned[--owned_count]);
}

static const char *word(char text[NAME_SIZE])
{
    if (scanf("%63s", text) != 1)
        fail("a word is missing");
    return strcmp(text, "-") == 0 ? NULL : text;
}

static void read_track(struct jitdump_track *track)
{
    const uint32_t function_count = count(LIMIT), position_count = count(LIMIT), offset_count = count(LIMIT);
    struct jitdump_function *const functions = own(function_count * sizeof(*functions));
    struct jitdump_position *const positions = own(position_count * sizeof(*positions));
    struct jitdump_offset *const offsets = own(offset_count * sizeof(*offsets));
    char (*const names)[2][NAME_SIZE] = own(function_count * sizeof(*names));
    *track = (struct jitdump_track){.struct_size = sizeof(*track),
                                    .name = "source",
                                    .functions = functions,
                                    .function_count = function_count,
                                    .positions = positions,
                                    .position_count = position_count,
                                    .offsets = offsets,
                                    .offset_count = offset_count};
    for (uint64_t i = 0; i < track->function_count; i++) {
        functions[i].name = word(names[i][0]);
        functions[i].file = word(names[i][1]);
        functions[i].start_line = number();
        functions[i].start_column = number();
        functions[i].flags = number();
    }
    for (uint64_t i = 0; i < track->position_count; i++) {
        positions[i].function = number();
        positions[i].line = number();
        positions[i].column = number();
        positions[i].caller = number();
    }
    for (uint64_t i = 0; i < track->offset_count; i++) {
        offsets[i].code_offset = number();
        offsets[i].position = number();
    }
}

static void check(int error)
{
    if (error != 0)
        fail(jitdump_strerror(error));
}

static void read_load(uint32_t which)
{
    static const char code_bytes[1 << 16];
    if (load_count + which >= LOADS_MAX)
        fail("too many loads");
    struct loaded *const loaded = &loads[load_count + which];
    const char *const name = word(own(NAME_SIZE));
    loaded->code_addr = address();
    loaded->code_size = number();
    if (loaded->code_size > sizeof(code_bytes))
        fail("the code is too large");
    read_track(&tracks[which]);
    codes[which] = (struct jitdump_code){.struct_size = sizeof(codes[which]),
                                         .name = name,
                                         .code_addr = loaded->code_addr,
                                         .code_size = loaded->code_size,
                                         .code_bytes = code_bytes,
                                         .tracks = &tracks[which],
                                         .track_count = 1};
}

static void load(struct jitdump *dump)
{
    read_load(0);
    check(jitdump_load(dump, &codes[0], &code_indices[load_count]));
    load_count++;
    free_owned();
}

static void load_many(struct jitdump *dump)
{
    char command[NAME_SIZE];
    const uint32_t many = count(MANY_MAX);
    for (uint32_t i = 0; i < many; i++) {
        if (word(command) == NULL || strcmp(command, "load") != 0)
            fail("a batch is loads");
        read_load(i);
    }
    check(jitdump_load_many(dump, codes, many, &code_indices[load_count]));
    load_count += many;
    free_owned();
}

static void move(struct jitdump *dump)
{
    const uint32_t which = number();
    if (which >= load_count)
        fail("a move of a function that is not loaded");
    struct loaded *const loaded = &loads[which];
    const uint64_t to = address();
    check(jitdump_move(dump, code_indices[which], loaded->code_addr, to, loaded->code_size));
    loaded->code_addr = to;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        fail("usage: encode DIRECTORY DIALECT FLAGS");
    char message[256];
    const struct jitdump_options options = {.struct_size = sizeof(options),
                                            .flags = (uint32_t)strtoul(argv[3], NULL, 0),
                                            .flush_mode = JITDUMP_FLUSH_BUFFERED,
                                            .dialect = (uint32_t)strtoul(argv[2], NULL, 0),
                                            .directory = argv[1],
                                            .error_message = message,
                                            .error_message_size = sizeof(message)};
    struct jitdump *dump;
    if (jitdump_open(&dump, &options) != 0)
        fail(message);
    /* Of the files that are described, one stands for a source. */
    if ((options.flags & JITDUMP_SOURCE_FILES) != 0 &&
        jitdump_embed_source(dump, "dir/file0.js", "text", 4) != 0)
        fail("no source");
    for (char command[NAME_SIZE]; scanf("%63s", command) == 1;) {
        if (strcmp(command, "load") == 0)
            load(dump);
        else if (strcmp(command, "many") == 0)
            load_many(dump);
        else if (strcmp(command, "move") == 0)
            move(dump);
        else
            fail("neither load nor many nor move");
    }
    puts(jitdump_path(dump));
    return jitdump_close(dump) != 0;
}
