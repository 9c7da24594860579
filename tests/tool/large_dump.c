/*
 * A dump of many functions, to measure by.
 *
 *     large_dump DIRECTORY FUNCTIONS CALLS [LINES [CPU_MS]]
 *
 * Each function has 256 bytes of code and a standard frame. Without calls it has ten lines in one of a
 * hundred files; else CALLS inlined calls, up to three deep, one in three of them in two pieces, and in
 * each piece LINES lines (1). Prints the dump's path. With CPU_MS the functions are real, and are called
 * in turns for that long; status 77 on machines that there is no code for.
 */
#define _GNU_SOURCE
#include <jitdump.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    CODE_SIZE = 256,
    DISTANCE = 384,
    LINES = 10,
    CALLS_MAX = 30,
    LINES_MAX = 4,
    NAMES = 1000,
    NAME_SIZE = 64
};

static char names[NAMES][NAME_SIZE];
static char files[NAMES / 10][NAME_SIZE];

static void check(int error)
{
    if (error != 0) {
        fprintf(stderr, "%s\n", jitdump_strerror(error));
        exit(1);
    }
}

static void add_lines(struct jitdump_code *code, const char *file)
{
    static struct jitdump_line lines[LINES];
    for (uint32_t i = 0; i < LINES; i++)
        lines[i] = (struct jitdump_line){.code_addr = code->code_addr + i * (CODE_SIZE / LINES),
                                         .line = 10 + 3 * i,
                                         .column = 1 + i % 3 * 4,
                                         .file = file};
    code->lines = lines;
    code->line_count = LINES;
}

/* A piece of `call`: all of its lines. */
static void add_piece(struct jitdump_offset *offsets, uint32_t *count, uint32_t call, uint32_t lines)
{
    for (uint32_t i = 0; i < lines; i++) {
        offsets[*count] = (struct jitdump_offset){4 * *count, call * lines + i};
        (*count)++;
    }
}

/* Call 0 is the function itself. */
static void add_calls(struct jitdump_code *code, uint32_t number, uint32_t calls, uint32_t lines)
{
    static struct jitdump_function functions[CALLS_MAX + 1];
    static struct jitdump_position positions[LINES_MAX * (CALLS_MAX + 1)];
    static struct jitdump_offset offsets[LINES_MAX * (3 * CALLS_MAX + 2)];
    static struct jitdump_track track = {.struct_size = sizeof(track),
                                         .name = "source",
                                         .functions = functions,
                                         .positions = positions,
                                         .offsets = offsets};
    uint32_t offset_count = 0;
    for (uint32_t i = 0; i <= calls; i++) {
        const uint32_t name = (number + 7 * i) % NAMES;
        functions[i] = (struct jitdump_function){
            .name = names[name], .file = files[name / 10], .start_line = 10};
        const uint32_t caller = i % 3 == 1 ? 0 : i - 1;
        for (uint32_t k = 0; k < lines; k++)
            positions[i * lines + k] = (struct jitdump_position){
                .function = i,
                .line = 10 + 5 * i + k,
                .column = 1 + i % 4,
                .caller = i == 0 ? JITDUMP_NONE : caller * lines};
        add_piece(offsets, &offset_count, i, lines);
        if (i % 3 == 0 && i > 0) { /* its caller once more, and it */
            add_piece(offsets, &offset_count, i - 1, lines);
            add_piece(offsets, &offset_count, i, lines);
        }
    }
    add_piece(offsets, &offset_count, 0, lines);
    track.function_count = calls + 1;
    track.position_count = lines * (calls + 1);
    track.offset_count = offset_count;
    code->tracks = &track;
    code->track_count = 1;
}

/* A standard frame, and ten loops, one for each line. Returns whether there is code for the machine. */
static int make_code(unsigned char code[CODE_SIZE])
{
#if defined(__x86_64__)
    static const unsigned char enter[] = {0x55, 0x48, 0x89, 0xe5}; /* push rbp; mov rbp, rsp */
    static const unsigned char leave[] = {0x5d, 0xc3};             /* pop rbp; ret */
    /* mov ecx, 256; dec ecx; jnz */
    static const unsigned char loop[] = {0xb9, 0, 1, 0, 0, 0xff, 0xc9, 0x75, 0xfc};
    memset(code, 0x90, CODE_SIZE); /* nop */
    memcpy(code, enter, sizeof(enter));
    for (size_t i = 0; i < LINES; i++)
        memcpy(code + sizeof(enter) + i * (CODE_SIZE / LINES), loop, sizeof(loop));
    memcpy(code + CODE_SIZE - sizeof(leave), leave, sizeof(leave));
    return 1;
#else
    (void)code;
    return 0;
#endif
}

static unsigned char *place_code(uint32_t count, const unsigned char code[CODE_SIZE])
{
    void *const memory = mmap(NULL, (size_t)count * DISTANCE, PROT_READ | PROT_WRITE | PROT_EXEC,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    for (uint32_t i = 0; i < count; i++)
        memcpy((unsigned char *)memory + (size_t)i * DISTANCE, code, CODE_SIZE);
    return memory;
}

static double cpu_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Neighbours far apart, so that samples lie all over. */
static void call_all(unsigned char *memory, uint32_t count, double ms)
{
    const double end = cpu_ms() + ms;
    uint64_t number = 0;
    do {
        for (int i = 0; i < 1000; i++) {
            unsigned char *const at = memory + number * DISTANCE;
            void (*function)(void);
            memcpy(&function, &at, sizeof(at));
            function();
            number = (number + 7919) % count;
        }
    } while (cpu_ms() < end);
}

int main(int argc, char **argv)
{
    static unsigned char bytes[CODE_SIZE];
    if (argc < 4 || argc > 6)
        return 2;
    const uint32_t count = (uint32_t)strtoul(argv[2], NULL, 10);
    const uint32_t calls = (uint32_t)strtoul(argv[3], NULL, 10);
    const uint32_t lines = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 1;
    if (calls > CALLS_MAX || lines < 1 || lines > LINES_MAX)
        return 2;
    for (uint32_t i = 0; i < NAMES; i++)
        snprintf(names[i], NAME_SIZE, "library::Module%u::inlined_function<%u>", i % 37, i);
    for (uint32_t i = 0; i < NAMES / 10; i++)
        snprintf(files[i], NAME_SIZE, "/home/user/project/source/module%u.js", i);

    const double ms = argc == 6 ? strtod(argv[5], NULL) : 0;
    if (ms > 0 && (count == 0 || !make_code(bytes)))
        return 77;
    unsigned char *const memory = ms > 0 ? place_code(count, bytes) : NULL;
    const uint64_t base = memory != NULL ? (uintptr_t)memory : UINT64_C(0x7f0000000000);

    const struct jitdump_options options = {.struct_size = sizeof(options),
                                            .flush_mode = JITDUMP_FLUSH_BUFFERED,
                                            .dialect = calls > 0 ? JITDUMP_DIALECT_SAMPLY_2023
                                                                 : JITDUMP_DIALECT_PERF,
                                            .directory = argv[1]};
    const struct jitdump_unwind unwind = {.struct_size = sizeof(unwind),
                                          .frame = JITDUMP_FRAME_POINTER};
    struct jitdump *dump;
    check(jitdump_open(&dump, &options));
    for (uint32_t i = 0; i < count; i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof(name), "application::Part%u::compiled_function_%u", i % 101, i);
        struct jitdump_code code = {.struct_size = sizeof(code),
                                    .name = name,
                                    .code_addr = base + (uint64_t)i * DISTANCE,
                                    .code_size = CODE_SIZE,
                                    .code_bytes = bytes,
                                    .unwind = &unwind};
        if (calls > 0)
            add_calls(&code, i, calls, lines);
        else
            add_lines(&code, files[i % (NAMES / 10)]);
        check(jitdump_load(dump, &code, NULL));
    }
    puts(jitdump_path(dump));
    if (ms > 0)
        call_all(memory, count, ms);
    check(jitdump_close(dump));
    return 0;
}
