/*
 * jitdump gsym: the code of one instant as a GSYM file.
 */
#include "tool/command.h"
#include "tool/instant.h"
#include "tool/messages.h"
#include "tool/progress.h"
#include "tool/whole_file.h"

#include "writers/gsym_writer.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "Usage: jitdump gsym [OPTION]... FILE -o OUT\n"
    "Makes a GSYM file of a dump: which function, which inlined calls and which line is at an\n"
    "address of the process. llvm-gsymutil, llvm-symbolizer, blazesym and the like read it.\n"
    "\n"
    "  -o, --output=OUT  the file to write\n"
    "  -a, --at=TIME     the code that there was at an instant: a time as 'jitdump dump' and\n"
    "                    perf script show it, or 'end' (default)\n"
    "      --format=1|2  the version of the format: 1 (default), which all readers know, or 2,\n"
    "                    for more than 4 GiB, which LLVM knows from 23 on\n"
    "  -h, --help        this text\n"
    "\n"
    "The file has the build id of the ELF file that 'jitdump elf' makes of the same code.\n";

struct gsym_arguments {
    const char *dump;
    const char *output;
    const char *at; /* NULL: the end */
    struct gsym_options options;
};

/* Returns -1 if the command is to go on, else the exit status. */
static int parse(int argc, char **argv, struct gsym_arguments *arguments)
{
    enum { FORMAT = 256 };
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"at", required_argument, NULL, 'a'},
                                            {"format", required_argument, NULL, FORMAT},
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
        case FORMAT:
            if (strcmp(optarg, "1") != 0 && strcmp(optarg, "2") != 0) {
                complain("--format takes 1 or 2, not '%s'", optarg);
                return point_to_help(argv[0]);
            }
            arguments->options.version = (unsigned)(optarg[0] - '0');
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

static bool write_gsym(const struct gsym_arguments *arguments, const struct instant *instant)
{
    struct whole_file file;
    struct gsym_result result;
    if (!whole_file_open(&file, arguments->output))
        return false;
    const enum gsym_error error = gsym_write(file.fd, &instant->history, instant->pieces,
                                             instant->count, &arguments->options, &result);
    progress_end();
    if (error == GSYM_OK)
        return whole_file_finish(&file);
    complain("%s: %s", arguments->output,
             error == GSYM_NOT_WRITTEN ? strerror(result.system_error) : gsym_strerror(error));
    if (error == GSYM_TOO_LARGE && arguments->options.version == 1)
        complain("try --format=2");
    whole_file_drop(&file);
    return false;
}

int gsym_command(int argc, char **argv)
{
    struct gsym_arguments arguments = {.options = {.version = 1}};
    const int status = parse(argc, argv, &arguments);
    if (status != -1)
        return status;
    struct instant instant;
    bool written = instant_open(&instant, arguments.dump, arguments.at);
    arguments.options.problems = &instant.problems;
    written = written && write_gsym(&arguments, &instant);
    instant_close(&instant);
    return written ? STATUS_OK : STATUS_TROUBLE;
}
