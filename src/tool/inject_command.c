/*
 * jitdump inject: its command line.
 */
#include "tool/command.h"
#include "tool/inject.h"
#include "tool/messages.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "Usage: jitdump inject [OPTION]... -o OUT [DUMP]...\n"
    "Makes a profile in which generated code has names, lines, inlined calls and callers, of a\n"
    "profile of perf record and the dumps of its processes. perf report, script and annotate\n"
    "read it: perf report -i OUT. Lies beside it as long as it is needed: the folder OUT.jit,\n"
    "with the code.\n"
    "\n"
    "Dumps are looked for where the processes had them; those named are taken in place of those\n"
    "of the same name.\n"
    "\n"
    "  -i, --input=FILE    the profile (default: perf.data), or '-' for standard\n"
    "                      input: perf record -o - … | jitdump inject -i - -o OUT\n"
    "  -o, --output=OUT    the new profile\n"
    "  -d, --dump-dir=DIR  look for dumps here first; can be given several times\n"
    "  -p, --pid=PID       the process, by the profile's count, that the named dumps are of:\n"
    "                      for containers and for files that have another name now\n"
    "      --only-sampled  leave out functions that have no sample: smaller files\n"
    "      --by-name       one row in perf report for a function that was compiled many times\n"
    "  -h, --help          this text\n";

static bool parse_pid(const char *text, uint32_t *pid)
{
    char *end;
    const unsigned long value = strtoul(text, &end, 10);
    *pid = (uint32_t)value;
    return text[0] >= '1' && text[0] <= '9' && *end == 0 && value <= INT32_MAX;
}

/* Returns -1 if the command is to go on, else the exit status. */
static int parse(int argc, char **argv, struct inject_request *request, const char **folders)
{
    enum { ONLY_SAMPLED = 256, BY_NAME };
    static const struct option options[] = {{"input", required_argument, NULL, 'i'},
                                            {"output", required_argument, NULL, 'o'},
                                            {"dump-dir", required_argument, NULL, 'd'},
                                            {"pid", required_argument, NULL, 'p'},
                                            {"only-sampled", no_argument, NULL, ONLY_SAMPLED},
                                            {"by-name", no_argument, NULL, BY_NAME},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "i:o:d:p:h", options, NULL)) != -1) {
        switch (option) {
        case 'i':
            request->profile = optarg;
            break;
        case 'o':
            request->output = optarg;
            break;
        case 'd':
            folders[request->folder_count++] = optarg;
            break;
        case 'p':
            if (parse_pid(optarg, &request->pid))
                break;
            complain("--pid takes the number of a process, not '%s'", optarg);
            return point_to_help(argv[0]);
        case BY_NAME:
            request->by_name = true;
            break;
        case ONLY_SAMPLED:
            request->only_sampled = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return STATUS_OK;
        default:
            return point_to_help(argv[0]);
        }
    }
    request->dumps = (const char *const *)(argv + optind);
    request->dump_count = (uint32_t)(argc - optind);
    if (request->output == NULL)
        complain("-o OUT is missing");
    else if (request->pid != 0 && request->dump_count == 0)
        complain("--pid says which process a dump is of: name the dump");
    else
        return -1;
    return point_to_help(argv[0]);
}

int inject_command(int argc, char **argv)
{
    const char **const folders = calloc((size_t)argc, sizeof(*folders));
    if (folders == NULL) {
        complain("out of memory");
        return STATUS_TROUBLE;
    }
    struct inject_request request = {.profile = "perf.data", .folders = folders};
    struct inject_summary summary = {0};
    int status = parse(argc, argv, &request, folders);
    if (status == -1) {
        status = inject(&request, &summary) ? STATUS_OK : STATUS_TROUBLE;
        if (status == STATUS_OK && summary.missing != 0)
            status = STATUS_NO;
    }
    free(folders);
    return status;
}
