/*
 * jitdump record: from a command to a profile in which generated code has its names.
 */
#define _GNU_SOURCE
#include "tool/command.h"
#include "tool/inject.h"
#include "tool/inject_input.h"
#include "tool/messages.h"
#include "tool/record_directory.h"
#include "tool/record_perf.h"
#include "tool/record_program.h"
#include "tool/record_summary.h"

#include "reader/mapped_file.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: jitdump record [-o DIRECTORY] [PERF OPTION]... -- COMMAND [ARGUMENT]...\n"
    "       jitdump record [-o DIRECTORY] [PERF OPTION]... -p PID\n"
    "Runs a command under perf record, and makes a profile in which the code that it has generated\n"
    "has names, lines and callers. Says what was found.\n"
    "\n"
    "  -o, --output DIRECTORY  where all files go: must be new or empty; if it is not given,\n"
    "                          jitdump-record-1 here, or the next number\n"
    "      --no-preload        do not preload the collector into COMMAND\n"
    "  -h, --help              this text\n"
    "\n"
    "Other options are those of perf record. Before them stand: -k mono --call-graph fp -F 999. perf\n"
    "takes processor cycles, and where there is no counter for them the clock. Where call chains end\n"
    "at the generated code, it has no frame pointers: --call-graph dwarf.\n"
    "\n"
    "COMMAND finds in its environment JITDUMPDIR, where dumps go; if it is not set, JITDUMP=1; and\n"
    "the collector, if that is installed, by INTEL_JIT_PROFILER64, INTEL_LIBITTNOTIFY64 and, where\n"
    "the program allows it, LD_PRELOAD. With -p the process must have its dump already; Ctrl-C ends.\n"
    "\n"
    "Exit status: the command's (128 and the number of the signal that killed it); 126 if it can't be\n"
    "run, 127 if it is not found, 125 if there is no profile.\n";

/* perf's status for options that it does not know. */
enum { PERF_USAGE = 129 };

struct record_options {
    const char *output; /* NULL: a new one */
    char **perf;        /* arguments that are meant for perf */
    int perf_count;
    char **command; /* NULL: none */
    bool has_period;
    bool has_target; /* -p and the like */
    bool no_preload;
    bool help;
};

/* The command line */

/* Whether the argument is the option, with its value or without. */
static bool is_option(const char *argument, char letter, const char *name)
{
    const size_t size = strlen(name);
    if (argument[0] != '-' || argument[1] != '-')
        return argument[0] == '-' && argument[1] == letter;
    return strncmp(argument + 2, name, size) == 0 &&
           (argument[2 + size] == '\0' || argument[2 + size] == '=');
}

/* The option's value: in the argument, or else the next one. NULL: there is none. */
static const char *value_of(char **argv, int *i)
{
    const char *const equals = strchr(argv[*i], '=');
    if (argv[*i][1] == '-' && equals != NULL)
        return equals + 1;
    if (argv[*i][1] != '-' && argv[*i][2] != '\0')
        return argv[*i] + 2;
    return argv[*i + 1] != NULL ? argv[++*i] : NULL;
}

static bool wrong(const char *text)
{
    complain("%s", text);
    point_to_help("jitdump record");
    return false;
}

/* Our own options are taken out of those that perf gets. What of perf's is an option's value is not
 * known here, and so the command needs a "--" in front of it, unless nothing was there for perf. */
static bool parse(struct record_options *options, char **argv)
{
    int i = 1;
    for (; argv[i] != NULL && strcmp(argv[i], "--") != 0; i++) {
        if (is_option(argv[i], 'h', "help")) {
            options->help = true;
            return true;
        }
        if (is_option(argv[i], 'o', "output")) {
            options->output = value_of(argv, &i);
            if (options->output == NULL || options->output[0] == '\0')
                return wrong("-o: which directory?");
            continue;
        }
        if (strcmp(argv[i], "--no-preload") == 0) {
            options->no_preload = true;
            continue;
        }
        if (argv[i][0] != '-' && options->perf_count == 0)
            break;
        if (strncmp(argv[i], "--switch-output", 15) == 0 || strcmp(argv[i], "--timestamp-filename") == 0)
            return wrong("one profile is made: for --switch-output and --timestamp-filename run perf record -k mono, "
                         "and jitdump inject -i on each profile");
        options->has_period |= is_option(argv[i], 'c', "count");
        options->has_target |= is_option(argv[i], 'p', "pid") || is_option(argv[i], 't', "tid") ||
                               is_option(argv[i], 'u', "uid") ||
                               is_option(argv[i], 'a', "all-cpus") ||
                               is_option(argv[i], 'C', "cpu");
        options->perf[options->perf_count++] = argv[i];
    }
    if (argv[i] != NULL && strcmp(argv[i], "--") == 0)
        i++;
    options->command = argv[i] != NULL ? &argv[i] : NULL;
    if (options->command != NULL || options->has_target)
        return true;
    return wrong(options->perf_count == 0 ? "which command?"
                                          : "which command? It stands behind \"--\"");
}

/* The steps */

/* From what perf has written. False: there is none. */
static bool finish(const struct record_directory *directory)
{
    struct mapped_file file;
    struct perf_data data;
    if (!open_profile(&file, directory->recorded))
        return false;
    const struct inject_request request = {
        .profile = directory->recorded,
        .output = directory->profile,
        .folders = (const char *const *)&directory->path,
        .folder_count = 1,
    };
    struct inject_summary summary;
    bool made = false;
    if (jd_perf_data_init(&data, (struct span){file.data, file.size}) != PERF_DATA_OK)
        complain("%s: %s", directory->recorded, data.reason != NULL ? data.reason : "out of memory");
    else if (data.header.data.size == 0)
        complain("perf record has failed; what it had written by then is %s", directory->recorded);
    else
        made = inject(&request, &summary);
    if (made)
        record_summarise(directory, &data, summary.told_undescribed);
    jd_perf_data_free(&data);
    jd_mapped_file_close(&file);
    return made;
}

/* With -p or -a it is not the command's code that is looked for. */
static enum collector_use collector_use(const struct record_options *options)
{
    if (options->has_target || options->command == NULL)
        return COLLECTOR_LEFT_OUT;
    const bool can = COLLECTOR_CAN_BE_PRELOADED && !options->no_preload &&
                     record_can_preload(options->command[0]);
    return can ? COLLECTOR_PRELOADED : COLLECTOR_NAMED;
}

static int record(const struct record_options *options)
{
    struct record_directory directory;
    if (!record_directory_make(&directory, options->output))
        return STATUS_NO_PROFILE;
    const struct recording recording = {
        .profile = directory.recorded,
        .directory = directory.path,
        .options = options->perf,
        .option_count = options->perf_count,
        .command = options->command,
        .has_period = options->has_period,
        .collector = collector_use(options),
    };
    int status = STATUS_NO_PROFILE;
    switch (record_by_perf(&recording, &status)) {
    case RECORDING_NO_PERF:
        record_directory_remove(&directory);
        status = STATUS_NO_PROFILE;
        break;
    case RECORDING_REFUSED:
        complain(options->command != NULL ? "perf record has ended before the command began"
                                          : "perf record has ended before it recorded anything");
        if (status != PERF_USAGE)
            record_explain_refusal();
        record_directory_remove(&directory);
        status = STATUS_NO_PROFILE;
        break;
    case RECORDING_NO_COMMAND:
        record_directory_remove(&directory);
        break;
    case RECORDING_ENDED:
        /* Ctrl-C is how an attached perf ends, and no failure. */
        if (status == 128 + SIGINT && options->command == NULL)
            status = STATUS_OK;
        if (!finish(&directory))
            status = STATUS_NO_PROFILE;
    }
    record_directory_free(&directory);
    return status;
}

int record_command(int argc, char **argv)
{
    if (argc > 5 && strcmp(argv[1], RECORD_BECOME_COMMAND) == 0)
        return record_become_command(argv + 2);
    struct record_options options = {.perf = calloc((size_t)argc, sizeof(char *))};
    int status = STATUS_NO_PROFILE;
    if (options.perf == NULL)
        complain("out of memory");
    else if (parse(&options, argv) && !options.help)
        status = record(&options);
    if (options.help) {
        fputs(help, stdout);
        status = STATUS_OK;
    }
    free(options.perf);
    return status;
}
