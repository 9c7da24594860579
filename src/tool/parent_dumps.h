/*
 * The dumps of the processes that a dump's process was forked from: it has their code, as it was then.
 */
#ifndef JITDUMP_TOOL_PARENT_DUMPS_H
#define JITDUMP_TOOL_PARENT_DUMPS_H

#include "check/process_view.h"
#include "check/profile_check.h"
#include "reader/mapped_file.h"

struct parent_dumps {
    struct inherited_code code[VIEW_ANCESTORS];
    uint32_t count;
    struct mapped_file files[VIEW_ANCESTORS];
    struct history histories[VIEW_ANCESTORS];
};

/* Of the process whose dump is `path`, with that pid in its header: the dumps that the profile names, where
 * it has them, else beside `path`. What can't be read is left out. False: out of memory. To be closed in
 * any case. */
bool parent_dumps_open(struct parent_dumps *dumps, const char *path, uint32_t pid,
                       struct perf_data *data);
void parent_dumps_close(struct parent_dumps *dumps);

#endif
