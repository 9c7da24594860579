/*
 * jitdump dump: what a dump holds.
 */
#include "tool/dump.h"

#include "tool/command.h"
#include "tool/input.h"
#include "tool/messages.h"
#include "tool/output.h"
#include "tool/progress.h"
#include "tool/text.h"

#include "format/machine.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NANOSECONDS UINT64_C(1000000000)

static const char help[] =
    "Usage: jitdump dump [OPTION]... FILE\n"
    "Shows what a jitdump file holds: its records, a line for each, or what the options ask for.\n"
    "\n"
    "  -f, --function=NAME  all about the functions of this name, or, if there is none, with NAME\n"
    "                       in their names: where their code was, lines, inlined calls, call\n"
    "                       frame information, machine code\n"
    "  -f, --function=0xADDRESS  the same, of what lay at the address\n"
    "  -a, --at=TIME        the code at an instant, by address: a time as it is shown, or 'end'.\n"
    "                       With --function: what lay there then\n"
    "  -s, --stat           how much there is of what\n"
    "  -j, --json           for programs: a JSON object to a line\n"
    "      --color=WHEN     auto (default), never, always\n"
    "      --no-pager       print straight to the terminal\n"
    "  -h, --help           this text\n"
    "\n"
    "Times are seconds of CLOCK_MONOTONIC, as in perf script, or values of the time stamp counter\n"
    "if that is what the dump has. The file may still be growing.\n"
    "\n"
    "Exit status: 0; 1 if there is no such function; 2 if the file can't be read, or not to its end.\n";

struct options {
    const char *function;
    const char *at;
    bool statistics;
    bool json;
    bool pager;
    enum output_colour colour;
    const char *path;
};

/* Returns -1, or the exit status if that was all. */
static int parse_options(struct options *options, int argc, char **argv)
{
    enum { COLOUR = 256, NO_PAGER };
    static const struct option known[] = {
        {"function", required_argument, NULL, 'f'}, {"at", required_argument, NULL, 'a'},
        {"stat", no_argument, NULL, 's'},           {"json", no_argument, NULL, 'j'},
        {"color", required_argument, NULL, COLOUR}, {"no-pager", no_argument, NULL, NO_PAGER},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, "f:a:sjh", known, NULL)) != -1) {
        switch (option) {
        case 'f':
            options->function = optarg;
            break;
        case 'a':
            options->at = optarg;
            break;
        case 's':
            options->statistics = true;
            break;
        case 'j':
            options->json = true;
            break;
        case COLOUR:
            if (!parse_colour(optarg, &options->colour)) {
                complain("--color is auto, never or always, not '%s'", optarg);
                return point_to_help(argv[0]);
            }
            break;
        case NO_PAGER:
            options->pager = false;
            break;
        case 'h':
            fputs(help, stdout);
            return STATUS_OK;
        default:
            return point_to_help(argv[0]);
        }
    }
    if (argc - optind != 1) {
        complain(optind == argc ? "which file?" : "one file at a time");
        return point_to_help(argv[0]);
    }
    if (options->statistics && (options->function != NULL || options->at != NULL)) {
        complain("--stat goes with neither --function nor --at");
        return point_to_help(argv[0]);
    }
    options->path = argv[optind];
    return -1;
}

static void tell(void *context, uint64_t offset, const char *reason)
{
    complain("%s: at offset 0x%" PRIx64 ": %s", (const char *)context, offset, reason);
}

static int dump_history(const struct options *options, const struct mapped_file *file)
{
    struct history history;
    const struct problems problems = {tell, (void *)(uintptr_t)options->path,
                                      progress_reading};
    if (!read_history(&history, file, options->path, &problems))
        return STATUS_TROUBLE;
    struct dump_time at = {options->at != NULL, UINT64_MAX};
    int status;
    if (at.given && !parse_time(&history.reader, options->at, &at.time)) {
        complain("--at takes a time as it is shown, or 'end', not '%s'", options->at);
        status = STATUS_TROUBLE;
    } else {
        output_start(options->colour, options->pager && !options->json);
        if (options->statistics)
            status = dump_statistics(&history, file, options->json);
        else if (options->function != NULL)
            status = dump_functions(&history, file, options->function, at, options->json);
        else
            status = dump_lives(&history, at.time, options->json);
        status = output_finish(status);
        const int end = tell_end(options->path, &history.reader);
        if (end > status)
            status = end;
    }
    jd_history_free(&history);
    return status;
}

int dump_command(int argc, char **argv)
{
    struct options options = {.pager = true};
    int status = parse_options(&options, argc, argv);
    if (status >= 0)
        return status;
    struct mapped_file file;
    if (!open_file(&file, options.path))
        return STATUS_TROUBLE;
    struct dump_reader reader;
    if (!jd_dump_reader_init(&reader, (struct span){file.data, file.size})) {
        status = tell_end(options.path, &reader);
    } else if (options.statistics || options.function != NULL || options.at != NULL) {
        status = dump_history(&options, &file);
    } else {
        output_start(options.colour, options.pager && !options.json);
        status = output_finish(dump_records(&reader, &file, options.json));
        const int end = tell_end(options.path, &reader);
        if (end > status)
            status = end;
    }
    jd_mapped_file_close(&file);
    return status;
}

int tell_end(const char *path, const struct dump_reader *reader)
{
    if (reader->end == DUMP_CUT_OFF)
        complain("%s: cut off at offset 0x%" PRIx64 " in the middle of a record: it is still being "
                 "written, or its writer died",
                 path, reader->offset);
    if (reader->end != DUMP_BROKEN)
        return STATUS_OK;
    complain("%s: at offset 0x%" PRIx64 ": %s", path, reader->offset, reader->reason);
    return STATUS_TROUBLE;
}

static bool raw_times(const struct dump_reader *reader)
{
    return (reader->header.flags & JITDUMP_FLAGS_ARCH_TIMESTAMP) != 0;
}

void print_time(FILE *to, const struct dump_reader *reader, uint64_t time)
{
    if (raw_times(reader))
        fprintf(to, "%" PRIu64, time);
    else
        fprintf(to, "%" PRIu64 ".%09" PRIu64, time / NANOSECONDS, time % NANOSECONDS);
}

bool parse_time(const struct dump_reader *reader, const char *text, uint64_t *time)
{
    if (strcmp(text, "end") == 0) {
        *time = UINT64_MAX;
        return true;
    }
    if (text[0] < '0' || text[0] > '9')
        return false;
    char *end;
    errno = 0;
    *time = strtoull(text, &end, 10);
    if (raw_times(reader) || errno != 0)
        return errno == 0 && *end == '\0';
    if (*time > UINT64_MAX / NANOSECONDS - 1)
        return false;
    *time *= NANOSECONDS;
    if (*end == '.') {
        uint64_t digit = NANOSECONDS / 10;
        for (end++; *end >= '0' && *end <= '9'; end++, digit /= 10)
            *time += digit * (uint64_t)(*end - '0');
    }
    return *end == '\0';
}

const char *machine_name(uint32_t elf_mach, char buffer[32])
{
    const struct machine *const machine = jd_machine(elf_mach);
    if (machine != NULL)
        return machine->name;
    snprintf(buffer, 32, "machine %" PRIu32, elf_mach);
    return buffer;
}

void print_name(FILE *to, struct span name)
{
    if (name.size == 0)
        fputs("(no name)", to);
    else
        print_text(to, name);
}
