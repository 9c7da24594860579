#define _GNU_SOURCE /* vasprintf */
#include "tool/messages.h"

#include "tool/command.h"
#include "tool/progress.h"
#include "tool/text.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void complain(const char *format, ...)
{
    va_list arguments;
    char *text;
    progress_end();
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    fputs("jitdump: ", stderr);
    print_string(stderr, text != NULL ? text : format);
    fputc('\n', stderr);
    free(text);
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
