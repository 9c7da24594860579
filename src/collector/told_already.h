/*
 * Runtimes may tell of the same code by several interfaces, one right after the other.
 */
#ifndef JITDUMP_COLLECTOR_TOLD_ALREADY_H
#define JITDUMP_COLLECTOR_TOLD_ALREADY_H

#include "jitdump.h"

#include <stdbool.h>

/* Which interface has told of the code. */
enum loaded_by { LOADED_BY_ITT = 1, LOADED_BY_ITT_MODULE, LOADED_BY_GDB };

/* Whether another interface has told of this code at this address, as the last there, and of no less about
 * it. Remembers it if not. */
bool jd_told_already(const struct jitdump_code *code, enum loaded_by by);

#endif
