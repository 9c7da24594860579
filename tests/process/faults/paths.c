#include "paths.h"

#include <stdio.h>
#include <unistd.h>

const char *dump_path(const char *directory)
{
    static _Thread_local char path[4200];
    snprintf(path, sizeof(path), "%s/jit-%d.dump", directory, (int)getpid());
    return path;
}

const char *map_path(void)
{
    static _Thread_local char path[64];
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    return path;
}
