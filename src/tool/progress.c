#include "tool/progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static bool shown;

static void show(const char *what, uint64_t done, uint64_t whole)
{
    if (whole == 0 || isatty(STDERR_FILENO) != 1)
        return;
    fprintf(stderr, "\rjitdump: %s, %" PRIu64 " %%", what, done / (whole / 100 + 1));
    shown = true;
}

void progress_reading(void *context, uint64_t done, uint64_t whole)
{
    (void)context;
    show("reading", done, whole);
}

void progress_writing(void *context, uint64_t done, uint64_t whole)
{
    (void)context;
    show("writing", done, whole);
}

void progress_end(void)
{
    if (shown)
        fputs("\r\033[K", stderr);
    shown = false;
}
