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
    "  -p, --pid=PID       the process, by the profile's count, that the dumps named behind it\n"
    "                      are of, up to the next --pid: for containers, and for files that\n"
    "                      have another name now\n"
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

static int no_dump(const char *command)
{
    complain("--pid says which process the dumps behind it are of: name one");
    return point_to_help(command);
}

/* What the request points to: room for as many of each as there are arguments. */
struct named {
    const char **folders;
    const char **dumps;
    uint32_t *pids; /* of the dumps */
    uint32_t pid;   /* of those that come */
    bool dump_is_due;
};

static void add_dump(struct inject_request *request, struct named *named, const char *path)
{
    named->dumps[request->dump_count] = path;
    named->pids[request->dump_count++] = named->pid;
    named->dump_is_due = false;
}

/* Returns -1 if the command is to go on, else the exit status. */
static int parse(int argc, char **argv, struct inject_request *request, struct named *named)
{
    enum { NO_OPTION = 1, ONLY_SAMPLED = 256, BY_NAME };
    static const struct option options[] = {{"input", required_argument, NULL, 'i'},
                                            {"output", required_argument, NULL, 'o'},
                                            {"dump-dir", required_argument, NULL, 'd'},
                                            {"pid", required_argument, NULL, 'p'},
                                            {"only-sampled", no_argument, NULL, ONLY_SAMPLED},
                                            {"by-name", no_argument, NULL, BY_NAME},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    int option;
    /* "-": what is no option comes in its place, as NO_OPTION. */
    while ((option = getopt_long(argc, argv, "-i:o:d:p:h", options, NULL)) != -1) {
        switch (option) {
        case NO_OPTION:
            add_dump(request, named, optarg);
            break;
        case 'i':
            request->profile = optarg;
            break;
        case 'o':
            request->output = optarg;
            break;
        case 'd':
            named->folders[request->folder_count++] = optarg;
            break;
        case 'p':
            if (!parse_pid(optarg, &named->pid)) {
                complain("--pid takes the number of a process, not '%s'", optarg);
                return point_to_help(argv[0]);
            }
            if (named->dump_is_due)
                return no_dump(argv[0]);
            named->dump_is_due = true;
            break;
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
    while (optind < argc)
        add_dump(request, named, argv[optind++]);
    if (named->dump_is_due)
        return no_dump(argv[0]);
    if (request->output != NULL)
        return -1;
    complain("-o OUT is missing");
    return point_to_help(argv[0]);
}

int inject_command(int argc, char **argv)
{
    const size_t count = (size_t)argc;
    struct named named = {.folders = calloc(count, sizeof(*named.folders)),
                          .dumps = calloc(count, sizeof(*named.dumps)),
                          .pids = calloc(count, sizeof(*named.pids))};
    struct inject_request request = {.profile = "perf.data",
                                     .dumps = named.dumps,
                                     .dump_pids = named.pids,
                                     .folders = named.folders};
    struct inject_summary summary = {0};
    int status = -1;
    if (named.folders == NULL || named.dumps == NULL || named.pids == NULL) {
        complain("out of memory");
        status = STATUS_TROUBLE;
    }
    if (status == -1)
        status = parse(argc, argv, &request, &named);
    if (status == -1) {
        status = inject(&request, &summary) ? STATUS_OK : STATUS_TROUBLE;
        if (status == STATUS_OK && summary.missing != 0)
            status = STATUS_NO;
    }
    free(named.folders);
    free(named.dumps);
    free(named.pids);
    return status;
}
