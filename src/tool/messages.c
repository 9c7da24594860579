#include "tool/messages.h"

#include "tool/command.h"
#include "tool/progress.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>

void complain(const char *format, ...)
{
    va_list arguments;
    progress_end();
    va_start(arguments, format);
    fputs("jitdump: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

int point_to_help(const char *command)
{
    fprintf(stderr, "Try '%s --help'.\n", command);
    return STATUS_TROUBLE;
}

const char *the_one_dump(int argc, char **argv)
{
    if (optind + 1 == argc)
        return argv[optind];
    complain(optind == argc ? "which dump?" : "one dump at a time");
    return NULL;
}
