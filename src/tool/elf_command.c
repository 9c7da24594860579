/*
 * jitdump elf: the code of one instant as ELF files.
 */
#define _GNU_SOURCE
#include "tool/command.h"
#include "tool/instant.h"
#include "tool/messages.h"
#include "tool/progress.h"
#include "tool/whole_file.h"

#include "writers/elf_extent.h"
#include "writers/elf_writer.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "Usage: jitdump elf [OPTION]... FILE -o OUT\n"
    "Makes an ELF file of a dump: the generated code with symbols, lines, inlined calls and\n"
    "unwinding data, at the addresses where it was in the process. addr2line, gdb, objdump,\n"
    "llvm-symbolizer and the like read it.\n"
    "\n"
    "  -o, --output=OUT  the file to write\n"
    "  -a, --at=TIME     the code that there was at an instant: a time as 'jitdump dump' and\n"
    "                    perf script show it, or 'end' (default)\n"
    "      --relative    addresses that count from a base, which is printed, as in a shared\n"
    "                    library\n"
    "      --dynsym      the symbols in .dynsym, for perf up to 6.12: its lookups of lines\n"
    "                    take a tenth of the time\n"
    "  -h, --help        this text\n"
    "\n"
    "Code that is spread over more than 2 GiB takes several files: OUT, OUT.2 and so on.\n"
    "\n"
    "In gdb: add-symbol-file OUT, with --relative: add-symbol-file OUT -o BASE\n";

struct elf_arguments {
    const char *dump;
    const char *output;
    const char *at; /* NULL: the end */
    struct elf_options options;
};

/* Returns -1 if the command is to go on, else the exit status. */
static int parse(int argc, char **argv, struct elf_arguments *arguments)
{
    enum { RELATIVE = 256, DYNSYM };
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"at", required_argument, NULL, 'a'},
                                            {"relative", no_argument, NULL, RELATIVE},
                                            {"dynsym", no_argument, NULL, DYNSYM},
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
        case RELATIVE:
            arguments->options.relative = true;
            break;
        case DYNSYM:
            arguments->options.dynsym = true;
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
    if (arguments->output == NULL) {
        complain("-o OUT is missing");
        return point_to_help(argv[0]);
    }
    return -1;
}

/* Files. All of them are written before the first gets its name. */

struct output {
    struct whole_file file;
    char *path;
    uint64_t base;
    struct output *next;
};

static struct output *open_output(const char *path, size_t number)
{
    struct output *const output = calloc(1, sizeof(*output));
    const int length = output == NULL ? -1
                       : number == 1  ? asprintf(&output->path, "%s", path)
                                      : asprintf(&output->path, "%s.%zu", path, number);
    if (length < 0) {
        complain("out of memory");
        free(output);
        return NULL;
    }
    if (!whole_file_open(&output->file, output->path)) {
        free(output->path);
        free(output);
        return NULL;
    }
    return output;
}

static bool write_output(struct output *output, const struct elf_arguments *arguments,
                         const struct history *history, const struct placed *pieces, size_t count)
{
    struct elf_result result;
    const enum elf_error error =
        elf_write(output->file.fd, history, pieces, count, &arguments->options, &result);
    progress_end();
    if (error != ELF_OK)
        complain("%s: %s", output->path,
                 error == ELF_NOT_WRITTEN ? strerror(result.system_error) : elf_strerror(error));
    output->base = result.base;
    return error == ELF_OK;
}

/* Gives the files their names, or leaves nothing of them. */
static bool finish_outputs(struct output *outputs, bool written, bool print_bases)
{
    while (outputs != NULL) {
        struct output *const output = outputs;
        outputs = output->next;
        if (written)
            written = whole_file_finish(&output->file);
        else
            whole_file_drop(&output->file);
        if (written && print_bases)
            printf("%#" PRIx64 "\n", output->base);
        free(output->path);
        free(output);
    }
    return written;
}

static bool write_files(const struct elf_arguments *arguments, const struct history *history,
                        const struct placed *pieces, size_t count)
{
    struct output *outputs = NULL;
    struct output **last = &outputs;
    bool written = true;
    size_t done = 0;
    for (size_t number = 1; written && (done < count || number == 1); number++) {
        const size_t reach = elf_reach(pieces + done, count - done);
        *last = open_output(arguments->output, number);
        written = *last != NULL &&
                  write_output(*last, arguments, history, pieces + done, reach);
        if (written && number > 1)
            complain("the code is spread over more than 2 GiB: what is from %#" PRIx64
                     " on is in %s", pieces[done].address, (*last)->path);
        if (*last != NULL)
            last = &(*last)->next;
        done += reach;
    }
    return finish_outputs(outputs, written, arguments->options.relative);
}

int elf_command(int argc, char **argv)
{
    struct elf_arguments arguments = {.at = NULL};
    const int status = parse(argc, argv, &arguments);
    if (status != -1)
        return status;
    struct instant instant;
    bool written = instant_open(&instant, arguments.dump, arguments.at);
    arguments.options.problems = &instant.problems;
    written = written && write_files(&arguments, &instant.history, instant.pieces, instant.count);
    instant_close(&instant);
    return written ? STATUS_OK : STATUS_TROUBLE;
}
