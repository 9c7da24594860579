/*
 * The address space of a dump's process, as far as its ELF files have to respect it.
 */
#ifndef JITDUMP_TOOL_INJECT_SPACE_H
#define JITDUMP_TOOL_INJECT_SPACE_H

#include "tool/inject_dumps.h"

#include "inject/ranges.h"

struct injected_space {
    struct ranges occupied; /* by files */
    /* Only for profiles with stack copies: */
    struct ranges foreign;  /* by code of libraries and of the process's other dumps */
    struct ranges used;     /* whole pages, by any code, and by unwinding data */
};

/* `holes`: where unwinding data were put before, of any process. False: out of memory, with a complaint. */
bool injected_space_find(struct injected_space *space, const struct profile_scan *scan,
                         const struct injected_dumps *dumps, const struct injected_dump *dump,
                         const struct ranges *holes);
void injected_space_free(struct injected_space *space);

#endif
