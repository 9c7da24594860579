/*
 * jitdump minidump: a minidump in which generated code has modules.
 */
#include "tool/code_modules.h"
#include "tool/command.h"
#include "tool/messages.h"
#include "tool/progress.h"
#include "tool/whole_file.h"

#include "writers/minidump_writer.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>

static const char usage[] =
    "Usage: jitdump minidump [OPTION]... MINIDUMP DUMP... -o OUT\n"
    "Adds the generated code of a crashed process to its minidump, as modules: minidump-stackwalk\n"
    "and others then look for the symbol files that 'jitdump breakpad' makes, name the code's\n"
    "functions, and find their callers. Nothing else of the minidump changes.\n"
    "\n"
    "The modules' addresses and symbol files are printed.\n"
    "\n"
    "  -o, --output=OUT  the minidump to write\n"
    "  -a, --at=TIME     the code that there was at an instant: a time as 'jitdump dump' and\n"
    "                    perf script show it, or 'end' (default)\n"
    "  -h, --help        this text\n"
    "\n"
    "    jitdump breakpad -m MINIDUMP DUMP -o STORE\n"
    "    jitdump minidump MINIDUMP DUMP -o OUT\n"
    "    minidump-stackwalk OUT STORE\n";

struct arguments {
    const char *minidump;
    char **dumps;
    size_t dump_count;
    const char *output;
    const char *at; /* NULL: the end */
};

/* Returns -1 if the command is to go on, else the exit status. */
static int parse(int argc, char **argv, struct arguments *arguments)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"at", required_argument, NULL, 'a'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "o:a:h", options, NULL)) != -1) {
        switch (option) {
        case 'o':
            arguments->output = optarg;
            break;
        case 'a':
            arguments->at = optarg;
            break;
        case 'h':
            fputs(usage, stdout);
            return STATUS_OK;
        default:
            return point_to_help(argv[0]);
        }
    }
    if (argc - optind < 2)
        complain(optind == argc ? "which minidump?" : "which dump?");
    else if (arguments->output == NULL)
        complain("-o OUT is missing");
    else {
        arguments->minidump = argv[optind];
        arguments->dumps = argv + optind + 1;
        arguments->dump_count = (size_t)(argc - optind - 1);
        return -1;
    }
    return point_to_help(argv[0]);
}

/* What there is of a dump. */
struct part {
    struct instant instant;
    bool is_open;
    struct code_modules modules;
};

static bool open_part(struct part *part, const struct arguments *arguments, const char *dump,
                      const struct minidump *minidump)
{
    part->is_open = true;
    if (!instant_open(&part->instant, dump, arguments->at) ||
        !code_modules_find_in(&part->modules, &part->instant, minidump, arguments->minidump))
        return false;
    for (size_t i = 0; i < part->modules.regions.count; i++)
        breakpad_identify(&part->modules.modules[i], &part->instant.problems);
    progress_end();
    return true;
}

/* The modules of all parts, in an allocated array. NULL, with a complaint: there are none. */
static struct breakpad_module *gather(const struct part *parts, size_t part_count, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < part_count; i++)
        *count += parts[i].modules.regions.count;
    struct breakpad_module *const all = calloc(*count, sizeof(*all));
    struct breakpad_module *next = all;
    for (size_t i = 0; i < part_count && all != NULL; i++)
        for (size_t k = 0; k < parts[i].modules.regions.count; k++)
            *next++ = parts[i].modules.modules[k];
    if (all == NULL)
        complain("out of memory");
    return all;
}

static int compare(const void *left, const void *right)
{
    const struct breakpad_module *const a = left;
    const struct breakpad_module *const b = right;
    return a->region.base < b->region.base ? -1 : a->region.base > b->region.base;
}

/* Two dumps may have code in one mapping, and readers drop modules that overlap. */
static bool are_disjoint(struct breakpad_module *modules, size_t count)
{
    qsort(modules, count, sizeof(*modules), compare);
    for (size_t i = 1; i < count; i++) {
        const struct code_region *const region = &modules[i].region;
        if (region->base - modules[i - 1].region.base < modules[i - 1].region.size) {
            complain("two of the dumps have code in the memory at %#" PRIx64
                     ": give one of them",
                     region->base);
            return false;
        }
    }
    return true;
}

static bool write_minidump(const char *path, const struct minidump *minidump,
                           const struct breakpad_module *modules, size_t count)
{
    struct whole_file file;
    if (!whole_file_open(&file, path))
        return false;
    const enum minidump_write_error error = minidump_write(file.fd, minidump, modules, count);
    switch (error) {
    case MINIDUMP_WRITTEN:
        return whole_file_finish(&file);
    case MINIDUMP_WRITE_NO_MEMORY:
        complain("%s: out of memory", path);
        break;
    case MINIDUMP_WRITE_TOO_LARGE:
        complain("%s: it would be longer than 4 GiB, which minidumps can't be", path);
        break;
    case MINIDUMP_NOT_WRITTEN:
        complain("%s: %s", path, strerror(errno));
    }
    whole_file_drop(&file);
    return false;
}

static bool add_parts(const struct arguments *arguments, struct part *parts,
                      const struct minidump *minidump)
{
    size_t count;
    for (size_t i = 0; i < arguments->dump_count; i++)
        if (!open_part(&parts[i], arguments, arguments->dumps[i], minidump))
            return false;
    struct breakpad_module *const modules = gather(parts, arguments->dump_count, &count);
    const bool written = modules != NULL && are_disjoint(modules, count) &&
                         write_minidump(arguments->output, minidump, modules, count) &&
                         code_modules_print(modules, count);
    free(modules);
    return written;
}

int minidump_command(int argc, char **argv)
{
    struct arguments arguments = {.at = NULL};
    const int status = parse(argc, argv, &arguments);
    if (status != -1)
        return status;
    struct mapped_file file;
    struct minidump minidump;
    struct part *const parts = calloc(arguments.dump_count, sizeof(*parts));
    if (parts == NULL)
        complain("out of memory");
    const bool written = open_minidump(&file, &minidump, arguments.minidump) && parts != NULL &&
                         add_parts(&arguments, parts, &minidump);
    for (size_t i = 0; i < arguments.dump_count && parts != NULL; i++) {
        code_modules_free(&parts[i].modules);
        if (parts[i].is_open)
            instant_close(&parts[i].instant);
    }
    free(parts);
    jd_minidump_free(&minidump);
    jd_mapped_file_close(&file);
    return written ? STATUS_OK : STATUS_TROUBLE;
}
