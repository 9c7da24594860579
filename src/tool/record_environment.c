#define _GNU_SOURCE
#include "tool/record_environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the collector is, as seen from this program: installed (COLLECTOR, which may be absolute), in a
 * build folder, beside it. */
static const char *const places[] = {COLLECTOR, "../collector/libjitdump-collector.so",
                                     "libjitdump-collector.so"};

bool record_find_collector(char *path, size_t size)
{
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length <= 0)
        return false;
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const bool absolute = places[i][0] == '/';
        const int needed = snprintf(path, size, "%s%s%s", absolute ? "" : self, absolute ? "" : "/",
                                    places[i]);
        if (needed > 0 && (size_t)needed < size && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* Behind what the user has there. */
static void preload(const char *collector)
{
    char list[16384];
    const char *const before = getenv("LD_PRELOAD");
    const bool alone = before == NULL || before[0] == '\0';
    const int size = snprintf(list, sizeof(list), "%s%s%s", alone ? "" : before, alone ? "" : ":", collector);
    /* The loader takes blanks and colons for ends of paths. */
    if (size > 0 && (size_t)size < sizeof(list) && strpbrk(collector, " :") == NULL)
        setenv("LD_PRELOAD", list, 1);
}

void record_set_environment(const char *directory, enum collector_use use)
{
    char collector[8192];
    const char *const asked = getenv("JITDUMP");
    /* Runtimes with libjitdump, and the collector. "0" is the user's way of saying no. */
    setenv("JITDUMP", "1", asked == NULL || asked[0] == '\0');
    setenv("JITDUMPDIR", directory, 1);
    if (use == COLLECTOR_LEFT_OUT || !record_find_collector(collector, sizeof(collector)))
        return;
    setenv("INTEL_JIT_PROFILER64", collector, 0);
    setenv("INTEL_LIBITTNOTIFY64", collector, 0); /* LLVM's */
    if (use == COLLECTOR_PRELOADED)
        preload(collector); /* for who registers code with GDB */
}
