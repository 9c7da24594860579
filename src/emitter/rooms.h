/*
 * With JITDUMP_DEBUG: who is loaded into the room behind another function (P15 of docs/consumers.md),
 * which ends the call chains through that one, and which nothing else tells.
 */
#ifndef JITDUMP_ROOMS_H
#define JITDUMP_ROOMS_H

#include "report.h"

#pragma GCC visibility push(hidden)

/* After each load, of a record that is set. Reports what it finds. */
void jd_rooms_load(struct jitdump *dump, const struct function_records *record);

void jd_rooms_free(struct jitdump *dump);

#pragma GCC visibility pop

#endif
