#include "tool/progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static bool shown;

void progress_reading(void *context, uint64_t done, uint64_t whole)
{
    (void)context;
    if (whole == 0 || isatty(STDERR_FILENO) != 1)
        return;
    fprintf(stderr, "\rjitdump: reading, %" PRIu64 " %%", done / (whole / 100 + 1));
    shown = true;
}

void progress_end(void)
{
    if (shown)
        fputs("\r\033[K", stderr);
    shown = false;
}
