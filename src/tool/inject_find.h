/*
 * Which file is the dump that a process has mapped. Two containers may each have a dump of the same path, or
 * of the same name, and a dump may be anywhere by now.
 */
#ifndef JITDUMP_TOOL_INJECT_FIND_H
#define JITDUMP_TOOL_INJECT_FIND_H

#include "tool/inject_request.h"

#include "inject/profile_scan.h"

struct dump_search {
    const struct inject_request *request;
    const struct profile_scan *scan;
    const struct perf_data *data;
    bool *used; /* of the request's dumps: those that may be one that a process has mapped */
};

enum found { FOUND, FOUND_SEVERAL, FOUND_NO_MEMORY };

/* `*path`, which is the caller's to free, may be of no file; then it is what the process has mapped.
 * FOUND_SEVERAL: nothing tells which of two processes the dumps at hand belong to. */
enum found find_dump(const struct dump_search *search, const struct scanned_mapping *mapping,
                     char **path);

#endif
