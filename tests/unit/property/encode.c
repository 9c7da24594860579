/* Reads from standard input what a JIT does, and does it, by the public API alone. What the dump
 * must say is known to test_inlining.py and, for whole histories, to tests/tool/histories.py.
 *
 *     encode DIRECTORY DIALECT FLAGS    (the numbers of jitdump.h)
 *
 *     load NAME CODE_ADDR DESCRIPTION
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

enum { LIMIT = 4096, NAME_SIZE = 64, LOADS_MAX = 100000 };

static struct jitdump_function functions[LIMIT];
static struct jitdump_position positions[LIMIT];
static struct jitdump_offset offsets[LIMIT];
static char names[LIMIT][2][NAME_SIZE];

static struct loaded {
    uint64_t code_index;
    uint64_t code_addr;
    uint64_t code_size;
} loads[LOADS_MAX];
static uint32_t load_count;

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

static uint32_t count(void)
{
    const uint32_t value = number();
    if (value > LIMIT)
        fail("a list is too long");
    return value;
}

static const char *word(char text[NAME_SIZE])
{
    if (scanf("%63s", text) != 1)
        fail("a word is missing");
    return strcmp(text, "-") == 0 ? NULL : text;
}

static void read_track(struct jitdump_track *track)
{
    track->functions = functions;
    track->positions = positions;
    track->offsets = offsets;
    track->function_count = count();
    track->position_count = count();
    track->offset_count = count();
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

static void load(struct jitdump *dump)
{
    static const char code_bytes[1 << 16];
    char name[NAME_SIZE];
    if (load_count == LOADS_MAX)
        fail("too many loads");
    struct loaded *const loaded = &loads[load_count++];
    word(name);
    loaded->code_addr = address();
    loaded->code_size = number();
    if (loaded->code_size > sizeof(code_bytes))
        fail("the code is too large");
    struct jitdump_track track = {.struct_size = sizeof(track), .name = "source"};
    read_track(&track);
    const struct jitdump_code code = {.struct_size = sizeof(code),
                                      .name = name,
                                      .code_addr = loaded->code_addr,
                                      .code_size = loaded->code_size,
                                      .code_bytes = code_bytes,
                                      .tracks = &track,
                                      .track_count = 1};
    check(jitdump_load(dump, &code, &loaded->code_index));
}

static void move(struct jitdump *dump)
{
    const uint32_t which = number();
    if (which >= load_count)
        fail("a move of a function that is not loaded");
    struct loaded *const loaded = &loads[which];
    const uint64_t to = address();
    check(jitdump_move(dump, loaded->code_index, loaded->code_addr, to, loaded->code_size));
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
        else if (strcmp(command, "move") == 0)
            move(dump);
        else
            fail("neither load nor move");
    }
    puts(jitdump_path(dump));
    return jitdump_close(dump) != 0;
}
