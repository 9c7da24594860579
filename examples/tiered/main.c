/* The command: options; runs main over and over, and compiles again what is hot. */
#define _GNU_SOURCE
#include "tiered.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: tiered [OPTION]... PROGRAM\n"
    "Compiles a program of small functions, calls main(10000) of it again and again, and\n"
    "compiles functions that are hot once more, with inlining.\n"
    "\n"
    "  --jitdump DIALECT  write jit-<pid>.dump for perf, samply-2023 (which nothing reads\n"
    "                     today) or samply-2026, to $JITDUMPDIR or the current directory\n"
    "  --outermost        perf's lines are those of the outermost function\n"
    "  --source-files     write the bytecode to files beside the dump\n"
    "  --perf-map         write /tmp/perf-<pid>.map too\n"
    "  --rounds N         how often main is called (default: 10000)\n"
    "  --hot N            after how many calls and rounds of its loops a function is compiled\n"
    "                     once more (default: 1000000)\n"
    "  --no-move          never use an address twice\n"
    "  --log FILE         write down what was described, for tests\n"
    "\n"
    "$JITDUMP_TRACK is source (default) or bytecode.\n";

void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("tiered: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static uint32_t dialect_number(const char *name)
{
    static const char *const names[] = {[JITDUMP_DIALECT_PERF] = "perf",
                                        [JITDUMP_DIALECT_SAMPLY_2023] = "samply-2023",
                                        [JITDUMP_DIALECT_SAMPLY_2026] = "samply-2026"};
    for (uint32_t i = 0; i < 3; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    die("%s: no dialect", name);
}

static void run(struct runtime *runtime, uint64_t rounds, uint64_t hot, bool moving)
{
    struct program *program = runtime->program;
    for (uint32_t i = 0; i < program->function_count; i++)
        runtime_compile(runtime, i, BASELINE);
    const struct function *entry = &program->functions[program->function_count - 1];
    int64_t result = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        result = ((int64_t(*)(int64_t))(uintptr_t)entry->code)(10000);
        bool changed = false;
        for (uint32_t i = 0; i < program->function_count; i++) {
            struct function *function = &program->functions[i];
            if (function->tier == BASELINE && function->count >= hot) {
                runtime_compile(runtime, i, OPTIMISED);
                changed = true;
            }
        }
        if (changed && moving)
            runtime_compact(runtime);
    }
    printf("%" PRId64 "\n", result);
}

int main(int argc, char **argv)
{
    enum { JITDUMP = 1, OUTERMOST, SOURCE_FILES, PERF_MAP, ROUNDS, HOT, NO_MOVE, LOG };
    static const struct option options[] = {
        {"jitdump", required_argument, NULL, JITDUMP},
        {"outermost", no_argument, NULL, OUTERMOST},
        {"source-files", no_argument, NULL, SOURCE_FILES},
        {"perf-map", no_argument, NULL, PERF_MAP},
        {"rounds", required_argument, NULL, ROUNDS},
        {"hot", required_argument, NULL, HOT},
        {"no-move", no_argument, NULL, NO_MOVE},
        {"log", required_argument, NULL, LOG},
        {NULL, 0, NULL, 0},
    };
    char message[512];
    struct jitdump_options dump_options = {.struct_size = sizeof(dump_options),
                                           .error_message = message,
                                           .error_message_size = sizeof(message)};
    static struct runtime runtime;
    bool wanted = false, moving = true;
    uint64_t rounds = 10000, hot = 1000000;
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case JITDUMP:
            wanted = true;
            dump_options.dialect = dialect_number(optarg);
            break;
        case OUTERMOST:
            dump_options.flags |= JITDUMP_OUTERMOST_LINES;
            break;
        case SOURCE_FILES:
            dump_options.flags |= JITDUMP_SOURCE_FILES;
            break;
        case PERF_MAP:
            dump_options.flags |= JITDUMP_PERF_MAP;
            break;
        case ROUNDS:
            rounds = strtoull(optarg, NULL, 10);
            break;
        case HOT:
            hot = strtoull(optarg, NULL, 10);
            break;
        case NO_MOVE:
            moving = false;
            break;
        case LOG:
            runtime.log = fopen(optarg, "w");
            if (runtime.log == NULL)
                die("%s can't be written", optarg);
            break;
        default:
            fputs(usage, stderr);
            return 2;
        }
    }
    if (optind != argc - 1) {
        fputs(usage, stderr);
        return 2;
    }
    static struct program program;
    parse(&program, argv[optind]);
    if (program.function_count == 0 ||
        program.functions[program.function_count - 1].parameter_count != 1)
        die("the last function must have one parameter: it is called");
    runtime_start(&runtime, &program, wanted ? &dump_options : NULL);
    run(&runtime, rounds, hot, moving);
    if (runtime.log != NULL)
        fclose(runtime.log);
    const int error = jitdump_close(runtime.dump);
    if (error != 0)
        die("the dump is incomplete: %s", jitdump_strerror(error));
    return 0;
}
