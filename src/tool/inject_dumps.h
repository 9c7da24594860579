/*
 * The dumps of a profile: where they are, and what is in them.
 */
#ifndef JITDUMP_TOOL_INJECT_DUMPS_H
#define JITDUMP_TOOL_INJECT_DUMPS_H

#include "tool/inject_request.h"

#include "inject/sample_marks.h"

struct injected_dump {
    char *path;
    uint32_t pid; /* as the profile has it */
    struct mapped_file file;
    struct history history;
    struct profile_clock clock;
    const struct sample_marks *marks;
    uint32_t file_count; /* ELF files made of it */
    struct injected_dump *next;
};

struct injected_dumps {
    struct injected_dump *first;
    uint32_t missing;
};

/* Reads all that the profile has, and those of the request. False: out of memory, with a complaint. */
bool injected_dumps_read(struct injected_dumps *dumps, const struct inject_request *request,
                         const struct profile_scan *scan, const struct perf_data *data);
void injected_dumps_free(struct injected_dumps *dumps);

#endif
