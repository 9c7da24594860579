/*
 * A profile with the names of generated code: the whole of `jitdump inject` but its command line.
 */
#ifndef JITDUMP_TOOL_INJECT_H
#define JITDUMP_TOOL_INJECT_H

#include "tool/inject_request.h"

#include <stdbool.h>
#include <stdint.h>

struct inject_summary {
    uint32_t dumps;   /* that the profile has, or that were given */
    uint32_t missing; /* of these, which could not be read or used */
    uint64_t functions;
    uint64_t files;
    uint64_t mappings;
    bool told_undescribed; /* that processes had no dump, and what to do */
};

/* False, with complaints, if there is no output. A dump that can't be read costs its process's names
 * only, with a complaint. */
bool inject(const struct inject_request *request, struct inject_summary *summary);

#endif
