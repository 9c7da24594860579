#define _GNU_SOURCE
#include "runtime.h"

#include "eh_frame.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MEAN_ITERATIONS 60000

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void print_clocks(void)
{
    /* Of several tries the one least disturbed between the two readings. */
    uint64_t best = UINT64_MAX, monotonic = 0, counter = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t before = clock_ns(CLOCK_MONOTONIC);
        uint64_t count = processor_counter();
        uint64_t after = clock_ns(CLOCK_MONOTONIC);
        if (after - before < best) {
            best = after - before;
            monotonic = before + best / 2;
            counter = count;
        }
    }
    printf("{\"clocks\": [%" PRIu64 ", %" PRIu64 "]}\n", monotonic, counter);
}

static void print_quoted(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('"');
}

void runtime_open(struct runtime *runtime, const struct jitdump_options *chosen)
{
    char message[512], path[4200] = "";
    struct jitdump_options options = *chosen;
    if (runtime->opens_file) {
        const int length = snprintf(path, sizeof(path), "%s/jit-%ld.dump", getenv("JITDUMPDIR"),
                                    (long)getpid());
        const int file = length > 0 ? open(path, O_RDWR | O_CREAT | O_EXCL, 0600) : -1;
        options.descriptor = file > 0 ? (uint64_t)file : 1;
        options.flags |= JITDUMP_NO_ATFORK | JITDUMP_NO_EXIT_FLUSH | JITDUMP_NO_SIGNAL_MASK;
    }
    options.error_message = message;
    options.error_message_size = sizeof(message);
    int error = jitdump_open(&runtime->dump, &options);
    if (error != 0) {
        printf("{\"error\": %d, \"strerror\": ", error);
        print_quoted(jitdump_strerror(error));
        printf(", \"message\": ");
        print_quoted(message);
        printf("}\n");
        exit(1);
    }
    printf("{\"dump\": ");
    print_quoted(runtime->opens_file ? path : jitdump_path(runtime->dump));
    printf(", \"pid\": %ld}\n", (long)getpid());
    print_clocks();
}

void runtime_close(struct runtime *runtime)
{
    print_clocks();
    int error = jitdump_close(runtime->dump);
    if (error != 0)
        errx(2, "jitdump_close: %s", jitdump_strerror(error));
}

static void print_function(const struct function *function, const char *file,
                           const struct assembler *a)
{
    flockfile(stdout);
    printf("{\"function\": \"%s\", \"pid\": %ld, \"addr\": %" PRIuPTR ", \"size\": %u, "
           "\"since\": %" PRIu64 ", \"file\": \"%s\", \"lines\": [",
           function->name, (long)getpid(), (uintptr_t)function->entry, a->size,
           clock_ns(CLOCK_MONOTONIC), file);
    for (uint32_t i = 0; i < a->line_count; i++) {
        const struct line_mark *mark = &a->lines[i];
        printf("%s[%u, %u, %u]", i == 0 ? "" : ", ", mark->offset, mark->line, mark->weight);
    }
    printf("], \"code\": \"");
    for (uint32_t i = 0; i < a->size; i++)
        printf("%02x", a->code[i]);
    printf("\"}\n");
    funlockfile(stdout);
}

static void copy_code(struct function *function, uint8_t *at, const void *code, uint32_t size)
{
    memcpy(at, code, size);
    __builtin___clear_cache((char *)at, (char *)at + size);
    /* ISO C knows no conversion of data pointers into function pointers. */
    memcpy(&function->entry, &at, sizeof(at));
}

void runtime_load_uncalled(const struct place *place, uint8_t *at, struct function *function,
                           const char *name, const struct assembler *a)
{
    const struct runtime *runtime = place->runtime;
    struct jit_memory *memory = place->memory;
    struct eh_frame eh;
    eh_frame_build(&eh, a);
    if (at == NULL)
        at = jit_memory_take(memory, runtime->leave_gap ? eh_frame_end(&eh, a) : a->size);
    *function = (struct function){.size = a->size};
    snprintf(function->name, sizeof(function->name), "%s", name);
    if (runtime->protect)
        jit_memory_unprotect(memory);
    copy_code(function, at, a->code, a->size);
    if (runtime->protect)
        jit_memory_protect(memory);

    struct jitdump_line lines[LINES_MAX] = {0};
    for (uint32_t i = 0; i < a->line_count; i++) {
        lines[i].code_addr = (uintptr_t)at + a->lines[i].offset;
        lines[i].line = a->lines[i].line;
        lines[i].column = i;
        lines[i].file = place->file;
    }
    struct jitdump_code code = {
        .struct_size = sizeof(code),
        .name = name,
        .code_addr = (uintptr_t)at,
        .code_size = a->size,
        .lines = lines,
        .line_count = a->line_count,
        .eh_frame = eh.frame,
        .eh_frame_size = eh.frame_size,
        .eh_frame_hdr = eh.header,
        .eh_frame_hdr_size = EH_FRAME_HDR_SIZE,
    };
    int error = jitdump_load(runtime->dump, &code, &function->code_index);
    if (error != 0)
        errx(2, "jitdump_load: %s", jitdump_strerror(error));
}

void runtime_load(const struct place *place, uint8_t *at, struct function *function,
                  const char *name, const struct assembler *a)
{
    runtime_load_uncalled(place, at, function, name, a);
    print_function(function, place->file, a);
}

void runtime_move(const struct place *place, struct function *function)
{
    runtime_move_to(place, function, jit_memory_take(place->memory, CODE_MAX + EH_FRAME_MAX));
}

void runtime_move_to(const struct place *place, struct function *function, uint8_t *to)
{
    uint8_t *from;
    memcpy(&from, &function->entry, sizeof(from));
    copy_code(function, to, from, function->size);
    memset(from, 0, function->size);
    int error = jitdump_move(place->runtime->dump, function->code_index, (uintptr_t)from,
                             (uintptr_t)to, function->size);
    if (error != 0)
        errx(2, "jitdump_move: %s", jitdump_strerror(error));
    printf("{\"moved\": \"%s\", \"pid\": %ld, \"addr\": %" PRIuPTR ", \"since\": %" PRIu64 "}\n",
           function->name, (long)getpid(), (uintptr_t)to, clock_ns(CLOCK_MONOTONIC));
}

void runtime_print_ready(void)
{
    printf("{\"ready\": true}\n");
    fflush(stdout);
}

void runtime_print_cpu(const struct function *function)
{
    printf("{\"cpu\": \"%s\", \"ns\": %" PRIu64 "}\n", function->name, function->cpu_ns);
}

bool runtime_running(const struct runtime *runtime, unsigned percent)
{
    if (runtime->until_eof) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        return poll(&input, 1, 0) == 0;
    }
    return clock_ns(CLOCK_THREAD_CPUTIME_ID) < runtime->duration_ns / 100 * percent;
}

void runtime_call(struct function *function)
{
    static _Thread_local uint32_t state = 1;
    state = state * UINT32_C(1664525) + UINT32_C(1013904223);
    uint64_t iterations = MEAN_ITERATIONS / 2 + (state >> 8) % MEAN_ITERATIONS;
    uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    function->entry(iterations);
    function->cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}
