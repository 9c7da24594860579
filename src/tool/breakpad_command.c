/*
 * jitdump breakpad: the code of one instant as a Breakpad symbol store.
 */
#include "tool/code_modules.h"
#include "tool/command.h"
#include "tool/messages.h"
#include "tool/symbol_store.h"

#include "writers/bytes.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>

static const char usage[] =
    "Usage: jitdump breakpad [OPTION]... DUMP -o DIRECTORY\n"
    "Makes Breakpad symbol files of a dump: the generated code with functions, lines, inlined\n"
    "calls and unwinding data, for minidump-stackwalk and for symbolication services.\n"
    "\n"
    "Each region of code is a module. Its file is DIRECTORY/jit-PID/ID/jit-PID.sym, where\n"
    "readers look for it. The modules' addresses and files are printed.\n"
    "\n"
    "  -o, --output=DIRECTORY  the symbol store to write to\n"
    "  -a, --at=TIME           the code that there was at an instant: a time as 'jitdump dump'\n"
    "                          and perf script show it, or 'end' (default)\n"
    "  -m, --minidump=FILE     regions as 'jitdump minidump' makes modules of in that minidump\n"
    "      --maps=FILE         regions as they are mapped, by a copy of /proc/PID/maps\n"
    "  -b, --base=ADDRESS      a region begins there; may be given several times\n"
    "  -h, --help              this text\n"
    "\n"
    "Without -m, --maps and -b a region begins with the page of the lowest function.\n";

struct arguments {
    const char *dump;
    const char *output;
    const char *at; /* NULL: the end */
    const char *minidump;
    const char *maps;
    struct memory_map bases; /* ranges of one byte */
};

static bool add_base(struct arguments *arguments, const char *text)
{
    char *end;
    errno = 0;
    const unsigned long long base = strtoull(text, &end, 0);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || base == UINT64_MAX) {
        complain("-b takes an address, not '%s'", text);
        return false;
    }
    if (jd_memory_map_add(&arguments->bases, base, base + 1))
        return true;
    complain("out of memory");
    return false;
}

/* Returns -1 if the command is to go on, else the exit status. */
static int parse(int argc, char **argv, struct arguments *arguments)
{
    enum { MAPS = 256 };
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'},   {"at", required_argument, NULL, 'a'},
        {"minidump", required_argument, NULL, 'm'}, {"maps", required_argument, NULL, MAPS},
        {"base", required_argument, NULL, 'b'},     {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "o:a:m:b:h", options, NULL)) != -1) {
        switch (option) {
        case 'o':
            arguments->output = optarg;
            break;
        case 'a':
            arguments->at = optarg;
            break;
        case 'm':
            arguments->minidump = optarg;
            break;
        case MAPS:
            arguments->maps = optarg;
            break;
        case 'b':
            if (!add_base(arguments, optarg))
                return point_to_help(argv[0]);
            break;
        case 'h':
            fputs(usage, stdout);
            return STATUS_OK;
        default:
            return point_to_help(argv[0]);
        }
    }
    arguments->dump = the_one_dump(argc, argv);
    if (arguments->dump == NULL)
        return point_to_help(argv[0]);
    if (arguments->output == NULL)
        complain("-o DIRECTORY is missing");
    else if ((arguments->minidump != NULL) + (arguments->maps != NULL) +
                 (arguments->bases.count > 0) > 1)
        complain("one of -m, --maps and -b");
    else
        return -1;
    return point_to_help(argv[0]);
}

/* Regions */

static bool find_by_minidump(struct code_modules *modules, struct instant *instant,
                             const char *path)
{
    struct mapped_file file;
    struct minidump minidump;
    const bool found = open_minidump(&file, &minidump, path) &&
                       code_modules_find_in(modules, instant, &minidump, path);
    jd_minidump_free(&minidump);
    jd_mapped_file_close(&file);
    return found;
}

/* Not by mapping it: files in /proc have no size. */
static bool read_text(const char *path, struct bytes *text)
{
    enum { STEP = 1 << 16 };
    FILE *const file = fopen(path, "re");
    size_t count = 1;
    while (file != NULL && count > 0) {
        unsigned char *const room = bytes_room(text, STEP);
        count = room != NULL ? fread(room, 1, STEP, file) : 0;
        text->size += count;
    }
    const bool is_read = file != NULL && ferror(file) == 0 && !text->failed;
    if (!is_read)
        complain("%s: %s", path, text->failed ? "out of memory" : strerror(errno));
    if (file != NULL)
        fclose(file);
    return is_read;
}

static bool find_by_maps(struct code_modules *modules, struct instant *instant, const char *path)
{
    struct bytes text = {.size = 0};
    struct memory_map map = {.count = 0};
    struct problem problem;
    bool found = read_text(path, &text);
    if (found) {
        const enum memory_map_error error =
            jd_memory_map_read(&map, (struct span){text.data, text.size}, &problem);
        if (error == MEMORY_MAP_WRONG)
            complain("%s: at offset %" PRIu64 ": %s", path, problem.offset, problem.reason);
        if (error == MEMORY_MAP_NO_MEMORY)
            complain("out of memory");
        found = error == MEMORY_MAP_OK &&
                code_modules_find(modules, instant, &map, true, "where nothing was mapped");
    }
    jd_memory_map_free(&map);
    bytes_free(&text);
    return found;
}

static bool find_by_bases(struct code_modules *modules, struct instant *instant,
                          struct memory_map *bases)
{
    jd_memory_map_sort(bases);
    for (uint64_t i = 0; i < bases->count; i++) {
        struct memory_range *const range = &bases->ranges[i];
        const uint64_t room =
            (i + 1 < bases->count ? bases->ranges[i + 1].begin : UINT64_MAX) - range->begin;
        range->end = range->begin + (room < CODE_REGION_LONGEST ? room : CODE_REGION_LONGEST);
    }
    return code_modules_find(modules, instant, bases, false,
                             "below the lowest base, or 4 GiB above one");
}

static bool find_modules(struct code_modules *modules, struct instant *instant,
                         struct arguments *arguments)
{
    struct memory_range all = {0, UINT64_MAX};
    const struct memory_map everything = {.ranges = &all, .count = 1};
    if (arguments->minidump != NULL)
        return find_by_minidump(modules, instant, arguments->minidump);
    if (arguments->maps != NULL)
        return find_by_maps(modules, instant, arguments->maps);
    if (arguments->bases.count > 0)
        return find_by_bases(modules, instant, &arguments->bases);
    return code_modules_find(modules, instant, &everything, false, "too far apart");
}

int breakpad_command(int argc, char **argv)
{
    struct arguments arguments = {.at = NULL};
    int status = parse(argc, argv, &arguments);
    if (status == -1) {
        struct instant instant;
        struct code_modules modules = {.modules = NULL};
        const bool written = instant_open(&instant, arguments.dump, arguments.at) &&
                             find_modules(&modules, &instant, &arguments) &&
                             symbol_store_write(arguments.output, &modules,
                                                &instant.problems) &&
                             code_modules_print(modules.modules, modules.regions.count);
        code_modules_free(&modules);
        instant_close(&instant);
        status = written ? STATUS_OK : STATUS_TROUBLE;
    }
    jd_memory_map_free(&arguments.bases);
    return status;
}
