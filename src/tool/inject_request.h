/*
 * What is to be injected.
 */
#ifndef JITDUMP_TOOL_INJECT_REQUEST_H
#define JITDUMP_TOOL_INJECT_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

struct inject_request {
    const char *profile; /* "-": standard input */
    const char *output; /* the ELF files go into a folder of this name with .jit behind it */
    /* Dumps that are not, or may not be, where the profile says; and of each the process that it is of, as
     * the profile has it; 0: the profile says. */
    const char *const *dumps;
    const uint32_t *dump_pids;
    uint32_t dump_count;
    /* Folders to look for dumps in, first. */
    const char *const *folders;
    uint32_t folder_count;
    /* Leave out code without samples; not where perf makes call chains of stack copies. */
    bool only_sampled;
    /* One row in perf report for all code of a name; neither for stack copies. */
    bool by_name;
};

#endif
