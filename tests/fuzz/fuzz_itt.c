/*
 * Any bytes as events of Intel's JIT API, from two copies of the client; memory may run out anywhere. What is
 * told of each must be a description that jitdump_load() can take, of the code that was reported, with
 * the lines of the table; and when all methods are unloaded, nothing is kept.
 *
 * The first byte says how line tables are to be read, the second which allocation fails; the events
 * follow. Each is handed over in memory of its own, as large as the collector may read.
 */
#define _GNU_SOURCE
#include "collected.h"
#include "failing_memory.h"
#include "input.h"
#include "target.h"

#include "collector/itt.c"

const char *target_output;

enum { CODE_BASE = 0x10000, LINES_MAX = 24, IDS = 8, TABLE_MAX = 64, CALLS_MAX = 4096 };

/* In the place of the collector's own. */

static const char *meaning; /* $JITDUMP_ITT_LINES */
static const void *caller;

/* What was handed over since the last event. */
static unsigned loads;
static uint64_t loaded_address, loaded_size;
static bool has_lines;
static uint32_t line_of[TABLE_MAX];

const char *jd_process_getenv(const char *name)
{
    REQUIRE(strcmp(name, "JITDUMP_ITT_LINES") == 0);
    return meaning;
}

struct process_shield jd_process_shield(void)
{
    return (struct process_shield){0};
}

void jd_process_unshield(struct process_shield shield)
{
    (void)shield;
}

const void *jd_caller_object(const void *code)
{
    (void)code;
    return caller;
}

bool jd_collector_allowed(void)
{
    return true;
}

void jd_collector_flush(void)
{
}

char *jd_source_file_absolute(const char *name)
{
    return name[0] == '/' ? NULL : strdup("/absolute");
}

void jd_collector_load(struct jitdump_code *code, enum loaded_by by)
{
    REQUIRE(by == LOADED_BY_ITT);
    check_code(code);
    REQUIRE(code->track_count == 0 || code->tracks->function_count <= CALLS_MAX);
    loads++;
    loaded_address = code->code_addr;
    loaded_size = code->code_size;
    has_lines = code->track_count != 0;
    for (uint32_t i = 0, at = 0; has_lines && i < TABLE_MAX; i++) {
        const struct jitdump_track *const track = code->tracks;
        while (at + 1 < track->offset_count && track->offsets[at + 1].code_offset <= i)
            at++;
        line_of[i] = track->positions[track->offsets[at].position].line;
    }
}

/* Events */

static const char *const names[] = {NULL, "", "f", "C.f", "C::f", "f(a::b)", "C", "/file", "file", "C.f(int)"};

static const char *take_name(struct input *input)
{
    return names[take_u8(input) % (sizeof(names) / sizeof(names[0]))];
}

/* Few, so that events meet; behind each other, inside of each other, or nowhere. */
static const void *take_address(struct input *input)
{
    const uint8_t kind = take_u8(input);
    return (const void *)(uintptr_t)(kind == 0 ? take_hostile(input) : CODE_BASE + kind / 2u); // NOLINT
}

static uint32_t take_size(struct input *input)
{
    const uint8_t kind = take_u8(input);
    return kind < 8 ? (uint32_t)take_hostile(input) : kind / 2u;
}

static uint32_t take_id(struct input *input)
{
    return take_u8(input) % (IDS + 1);
}

struct table {
    struct itt_line *lines; /* NULL: whatever the count says */
    uint32_t count;
};

static struct table take_table(struct input *input)
{
    const uint8_t kind = take_u8(input);
    struct table table = {.count = kind % LINES_MAX};
    if (kind >= 240)
        return table;
    table.lines = __real_malloc(table.count * sizeof(*table.lines));
    for (uint32_t i = 0; i < table.count; i++) {
        const uint8_t offset = take_u8(input);
        table.lines[i] = (struct itt_line){offset == 255 ? (uint32_t)take_hostile(input) : offset / 2u,
                                           take_u8(input) % 16};
    }
    return table;
}

/* The line of a byte of code by the table, read as the one or the other. */
static uint32_t line_by(const struct table *table, uint32_t offset, bool ends)
{
    const struct itt_line *best = NULL;
    for (const struct itt_line *at = table->lines; at < table->lines + table->count; at++) {
        if (ends && at->offset > offset && (best == NULL || at->offset < best->offset))
            best = at;
        if (!ends && at->offset <= offset && (best == NULL || at->offset >= best->offset))
            best = at;
    }
    return best != NULL ? best->line : 0;
}

static bool is_read_as(const struct table *table, uint64_t size, bool ends)
{
    bool same = true;
    for (uint32_t i = 0; i < size && i < TABLE_MAX; i++)
        same = same && line_of[i] == line_by(table, i, ends);
    return same;
}

static void send(unsigned event, const void *data, size_t size)
{
    unsigned char *const copy = __real_malloc(size); /* so that what is behind it is guarded */
    memcpy(copy, data, size);
    loads = 0;
    REQUIRE(NotifyEvent(event, copy) == 1);
    free(copy);
}

/* Of a method in which nothing is inlined all is known, if memory has not run out. */
static void check_load(const struct itt_load *load, const struct table *table, bool plain)
{
    const bool is_code = load->id != 0 && load->address != NULL && load->size != 0;
    REQUIRE(loads == (is_code ? 1 : 0));
    if (loads == 0)
        return;
    REQUIRE(loaded_address == (uintptr_t)load->address && loaded_size == load->size);
    if (!plain || !has_lines || table->lines == NULL || table->count == 0)
        return;
    const bool as_ends = is_read_as(table, load->size, true);
    REQUIRE(meaning != NULL ? is_read_as(table, load->size, strcmp(meaning, "ends") == 0)
                            : as_ends || is_read_as(table, load->size, false));
}

static void take_load(struct input *input, unsigned event, bool plain, bool memory)
{
    const struct itt_load load = {.id = take_id(input),
                                  .name = take_name(input),
                                  .address = take_address(input),
                                  .size = take_size(input)};
    const struct table table = take_table(input);
    struct itt_load_v1 first = {.load = load, .class_name = take_name(input), .file = take_name(input)};
    struct itt_load_v2 second = {.load = load, .class_name = first.class_name, .file = first.file};
    first.load.lines = second.load.lines = table.lines;
    first.load.line_count = second.load.line_count = table.count;
    if (event == ITT_LOAD || event == ITT_UPDATE)
        send(event, &first, sizeof(first));
    else
        send(event, &second, sizeof(second));
    if (memory && event != ITT_UPDATE)
        check_load(&load, &table, plain);
    free(table.lines);
}

static void take_inline(struct input *input, bool memory)
{
    struct itt_inline_load load = {.id = take_id(input),
                                   .parent_id = take_id(input),
                                   .name = take_name(input),
                                   .address = take_address(input),
                                   .size = take_size(input)};
    const struct table table = take_table(input);
    load.lines = table.lines;
    load.line_count = table.count;
    load.class_name = take_name(input);
    load.file = take_name(input);
    send(ITT_INLINE_LOAD, &load, sizeof(load));
    REQUIRE(!memory || load.id != 0 || loads == 0);
    free(table.lines);
}

static void take_event(struct input *input, bool *inlined, bool memory)
{
    static const unsigned loads_of[] = {ITT_LOAD, ITT_LOAD_V2, ITT_LOAD_V3, ITT_UPDATE};
    static const char copies[2];
    const uint8_t kind = take_u8(input);
    caller = &copies[kind >> 7];
    switch (kind % 8) {
    case 0: case 1: case 2: case 3:
        take_load(input, loads_of[kind % 8], !*inlined, memory);
        *inlined |= kind % 8 == 3; /* of changed code lines are not known */
        break;
    case 4: case 5:
        *inlined = true;
        take_inline(input, memory);
        break;
    case 6:
        send(ITT_UNLOAD, &(uint32_t){take_id(input)}, sizeof(uint32_t));
        break;
    default:
        loads = 0;
        REQUIRE(NotifyEvent(take_u8(input) % 32, NULL) == 1 && loads == 0);
    }
}

static void unload_all(void)
{
    for (struct sender *sender = senders; sender != NULL; sender = sender->next) {
        caller = sender->copy;
        for (uint32_t id = 0; id <= IDS; id++)
            send(ITT_UNLOAD, &id, sizeof(id));
        sender->evidence = (struct itt_line_evidence){0};
    }
    REQUIRE(methods.count == 0 && loads == 0);
    free(methods.places);
    methods = (struct itt_methods){0};
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const meanings[] = {NULL, "ends", "starts"};
    struct input input = {bytes, size};
    bool inlined = false;
    meaning = meanings[take_u8(&input) % 3];
    failing = take_u8(&input);
    const bool memory = failing == 0;
    while (input.left > 0)
        take_event(&input, &inlined, memory);
    failing = 0;
    unload_all();
    return 0;
}
