/*
 * Whether the collector can be preloaded into a program. The loader of another C library ends programs over a
 * library that is not made for it, and so does AddressSanitizer, which wants to be the first.
 */
#ifndef JITDUMP_TOOL_RECORD_PROGRAM_H
#define JITDUMP_TOOL_RECORD_PROGRAM_H

#include <stdbool.h>

/* `program` is looked for as execvp() does. A script is as its interpreter is. What a program starts in its
 * turn is not known. */
bool record_can_preload(const char *program);

#endif
