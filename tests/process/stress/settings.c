#include "settings.h"

#include "../../sanitizer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What can be chosen from, each at its value. */
static const char *const end_names[] = {"close", "return", "exit",  "_exit", "flush+_exit",
                                        "segv",  "abort",  "pause", NULL};
static const char *const mode_names[] = {"write-through", "buffered", "background", NULL};
static const char *const dialect_names[] = {"perf", "samply-2023", "samply-2026", NULL};

struct settings settings = {
    .options = {.struct_size = sizeof(struct jitdump_options)},
    .threads = 1,
    .operations = 1000,
    .child_operations = UINT64_MAX, /* as many */
    .generations = 1,
    .workload = {.seed = 1, .code_size_max = WORKLOAD_CODE_SIZE_MAX},
};

static bool parse_choice(const char *text, const char *const *names, uint32_t *choice)
{
    for (*choice = 0; names[*choice] != NULL; ++*choice)
        if (strcmp(text, names[*choice]) == 0)
            return true;
    return false;
}

static bool parse_number(const char *text, uint64_t *number)
{
    char *end;
    *number = strtoull(text, &end, 0);
    return end != text && *end == '\0';
}

/* `--name value` each; the other members are where the value goes, by its kind. */
static const struct argument {
    const char *name;
    uint64_t *number;
    uint32_t *choice;
    const char *const *choices;
    const char **text;
} arguments[] = {
    {"directory", .text = &settings.options.directory},
    {"journal-directory", .text = &settings.journal_directory},
    {"mode", .choice = &settings.options.flush_mode, .choices = mode_names},
    {"flush-bytes", .number = &settings.options.flush_bytes},
    {"flush-interval-ns", .number = &settings.options.flush_interval_ns},
    {"size-limit", .number = &settings.options.size_limit},
    {"dialect", .choice = &settings.options.dialect, .choices = dialect_names},
    {"flags", .number = &settings.flags},
    {"sources", .number = &settings.sources},
    {"long-directory", .text = &settings.long_directory},
    {"threads", .number = &settings.threads},
    {"operations", .number = &settings.operations},
    {"child-operations", .number = &settings.child_operations},
    {"code-size-max", .number = &settings.workload.code_size_max},
    {"seed", .number = &settings.workload.seed},
    {"flush-every", .number = &settings.flush_every},
    {"meet-every", .number = &settings.meet_every},
    {"children", .number = &settings.children},
    {"generations", .number = &settings.generations},
    {"fork-every", .number = &settings.fork_every},
    {"end", .choice = &settings.end, .choices = end_names},
    {"end-after-us", .number = &settings.end_after_us},
    {"child-end", .choice = &settings.child_end, .choices = end_names},
    {"signal-interval-us", .number = &settings.signal_interval_us},
};

static bool parse_argument(const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
        const struct argument *argument = &arguments[i];
        if (strncmp(name, "--", 2) != 0 || strcmp(name + 2, argument->name) != 0)
            continue;
        if (argument->number != NULL)
            return parse_number(value, argument->number);
        if (argument->choice != NULL)
            return parse_choice(value, argument->choices, argument->choice);
        *argument->text = value;
        return true;
    }
    return false;
}

void parse_arguments(int count, char **words)
{
    for (int i = 0; i < count; i += 2)
        if (i + 1 == count || !parse_argument(words[i], words[i + 1])) {
            fprintf(stderr, "stress: not an option with its value: %s\n", words[i]);
            exit(1);
        }
    if (settings.options.directory == NULL || settings.threads < 1 ||
        settings.threads > THREADS_MAX || settings.workload.code_size_max > WORKLOAD_CODE_SIZE_MAX) {
        fprintf(stderr, "stress: --directory is missing, or a number is out of its range\n");
        exit(1);
    }
    /* rest_before_fork() in tests/unit/child.h says why. Here the threads never rest. */
    if (SANITIZED && settings.children > 0) {
        fprintf(stderr, "stress: this sanitizer can't be with threads in a parent\n");
        exit(77);
    }
    if (settings.journal_directory == NULL)
        settings.journal_directory = settings.options.directory;
}
