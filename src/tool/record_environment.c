#define _GNU_SOURCE
#include "tool/record_environment.h"

#include <stdlib.h>
#include <string.h>

void record_set_environment(const char *directory)
{
    const char *const asked = getenv("JITDUMP");
    /* Runtimes with libjitdump. "0" is the user's way of saying no. */
    setenv("JITDUMP", "1", asked == NULL || asked[0] == '\0');
    setenv("JITDUMPDIR", directory, 1);
}
