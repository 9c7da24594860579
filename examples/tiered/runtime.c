/*
 * The code cache, and what profilers are told of it.
 *
 * Nothing generated runs while it is changed, so that the whole cache can be writable then
 * and executable at all other times.
 */
#define _GNU_SOURCE
#include "tiered.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define CACHE_SIZE (1 << 20)
#define ALIGNMENT 64

static uint8_t *cache;
static uint32_t used;

static void protect(int protection)
{
    if (mprotect(cache, CACHE_SIZE, protection) != 0)
        die("the code cache can't be protected: %s", strerror(errno));
}

/* Once, since what is wrong with one function is mostly wrong with all. */
static void check_dump(int error)
{
    static bool said;
    if (error != 0 && !said)
        fprintf(stderr, "tiered: the profile will be incomplete: %s\n", jitdump_strerror(error));
    said |= error != 0;
}

/* The profile's side */

static const char *const tier_names[] = {"Baseline", "Optimised"};
/* Prefixes for which samply has a category and a colour. */
static const char *const tier_prefixes[] = {"Baseline: ", "Ion: "};

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void log_code(FILE *log, const struct function *function)
{
    const struct compiled *compiled = function->compiled;
    fprintf(log,
            "{\"code\": \"%s%s\", \"addr\": %" PRIuPTR ", \"size\": %u, \"since\": %" PRIu64
            ", \"positions\": [",
            tier_prefixes[function->tier], function->name, (uintptr_t)function->code,
            function->code_size, now());
    for (uint32_t i = 0; i < compiled->position_count; i++)
        fprintf(log, "%s[%u, %u, %u, %u, %d]", i == 0 ? "" : ", ", compiled->source[i].function,
                compiled->source[i].line, compiled->source[i].column, compiled->bytecode[i].line,
                (int)compiled->source[i].caller);
    fputs("], \"offsets\": [", log);
    for (uint32_t i = 0; i < compiled->offset_count; i++)
        fprintf(log, "%s[%u, %u]", i == 0 ? "" : ", ", compiled->offsets[i].code_offset,
                compiled->offsets[i].position);
    fputs("]}\n", log);
    fflush(log); /* a crash leaves it whole */
}

/* put_begin() and put_end() make the standard frame, and nothing else returns. */
static const struct jitdump_unwind frame = {.struct_size = sizeof(frame),
                                            .frame = JITDUMP_FRAME_POINTER};

/* A function's code, and the room that its unwinding data needs behind it. */
static uint32_t described_size(const struct runtime *runtime, uint32_t code_size)
{
    const struct jitdump_code code = {
        .struct_size = sizeof(code), .code_size = code_size, .unwind = &frame};
    uint64_t room;
    check_dump(jitdump_unwind_size(runtime->dump, &code, &room));
    return code_size + (uint32_t)room;
}

static uint32_t size_in_cache(const struct runtime *runtime, uint32_t code_size)
{
    return (described_size(runtime, code_size) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* To be called when the code is where it will be executed, and before it is. */
static void describe(struct runtime *runtime, const struct function *function)
{
    const struct compiled *compiled = function->compiled;
    const uint32_t function_count = runtime->program->function_count;
    const struct jitdump_track tracks[] = {
        {sizeof(tracks[0]), 0, "source", runtime->source_functions, function_count, compiled->source,
         compiled->position_count, compiled->offsets, compiled->offset_count},
        {sizeof(tracks[0]), 0, "bytecode", runtime->bytecode_functions, function_count, compiled->bytecode,
         compiled->position_count, compiled->offsets, compiled->offset_count},
    };
    const struct jitdump_code code = {.struct_size = sizeof(code),
                                      .tier = runtime->tiers[function->tier],
                                      .name = function->name,
                                      .code_addr = (uintptr_t)function->code,
                                      .code_size = function->code_size,
                                      .tracks = tracks,
                                      .track_count = 2,
                                      .unwind = &frame};
    check_dump(jitdump_load(runtime->dump, &code, NULL));
    if (runtime->log != NULL)
        log_code(runtime->log, function);
}

void runtime_start(struct runtime *runtime, struct program *program,
                   const struct jitdump_options *options)
{
    runtime->program = program;
    cache = mmap(NULL, CACHE_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (cache == MAP_FAILED)
        die("no memory for code: %s", strerror(errno));
    if (options != NULL && jitdump_open(&runtime->dump, options) != 0)
        die("no dump: %s", options->error_message);
    if (options != NULL && options->error_message[0] != '\0')
        fprintf(stderr, "tiered: %s\n", options->error_message);

    static const uint32_t colors[] = {JITDUMP_COLOR_BLUE, JITDUMP_COLOR_GREEN};
    for (int tier = BASELINE; tier <= OPTIMISED; tier++)
        check_dump(jitdump_add_tier(runtime->dump, tier_names[tier], colors[tier],
                                    tier_prefixes[tier], &runtime->tiers[tier]));
    for (uint32_t i = 0; i < program->function_count; i++) {
        const struct function *function = &program->functions[i];
        runtime->source_functions[i] = (struct jitdump_function){
            .name = function->name, .file = program->path, .start_line = function->line};
        runtime->bytecode_functions[i] = (struct jitdump_function){
            .name = function->name, .file = function->listing_path, .start_line = 1};
        check_dump(jitdump_embed_source(runtime->dump, function->listing_path, function->listing,
                                        function->listing_size));
    }
}

/* The cache's side */

void runtime_compile(struct runtime *runtime, uint32_t number, enum tier tier)
{
    struct function *function = &runtime->program->functions[number];
    if (function->compiled == NULL)
        function->compiled = calloc(1, sizeof(*function->compiled));
    if (function->compiled == NULL)
        die("no memory for code: %s", strerror(errno));
    compile(runtime->program, number, tier, function->compiled);
    const struct code *code = &function->compiled->code;
    if (used + size_in_cache(runtime, code->size) > CACHE_SIZE)
        die("the code cache is full");
    protect(PROT_READ | PROT_WRITE);
    function->tier = tier;
    function->code = memcpy(cache + used, code->bytes, code->size);
    function->code_size = code->size;
    used += size_in_cache(runtime, function->code_size);
    protect(PROT_READ | PROT_EXEC);
    __builtin___clear_cache((char *)function->code, (char *)function->code + function->code_size);
    describe(runtime, function);
}

/* The function that lies next at or behind the offset; NULL: none. */
static struct function *next_function(struct program *program, uint32_t offset)
{
    struct function *next = NULL;
    for (uint32_t i = 0; i < program->function_count; i++) {
        struct function *function = &program->functions[i];
        if (function->code >= cache + offset && (next == NULL || function->code < next->code))
            next = function;
    }
    return next;
}

void runtime_compact(struct runtime *runtime)
{
    bool moved[FUNCTIONS_MAX] = {false};
    uint32_t to = 0;
    protect(PROT_READ | PROT_WRITE);
    for (struct function *function; (function = next_function(runtime->program, to)) != NULL;) {
        if (function->code != cache + to) {
            /* Nothing in the code depends on where it lies. */
            function->code = memmove(cache + to, function->code, function->code_size);
            moved[function - runtime->program->functions] = true;
        }
        to += size_in_cache(runtime, function->code_size);
    }
    used = to;
    protect(PROT_READ | PROT_EXEC);
    __builtin___clear_cache((char *)cache, (char *)cache + used);
    /* Loaded anew, since perf can lose the callers of functions with unwinding data that are moved
     * (P24); when all have moved, since their bytes are read where they lie. */
    for (uint32_t i = 0; i < runtime->program->function_count; i++)
        if (moved[i])
            describe(runtime, &runtime->program->functions[i]);
}
