/*
 * Objects whose code is not final yet: some JITs tell of it before they relocate it, and make the memory
 * executable behind that. It is loaded at that moment.
 */
#ifndef JITDUMP_COLLECTOR_PENDING_CODE_H
#define JITDUMP_COLLECTOR_PENDING_CODE_H

#include "object_code.h"

/* Loads what is executable already, and waits with the rest. Takes the object over; `key` names it. */
void jd_pending_code_add(struct object_code *code, const void *key);

/* It is freed by the program: what was not loaded by now never will be. */
void jd_pending_code_forget(const void *key);

/* Memory has become executable. */
void jd_pending_code_executable(uint64_t start, uint64_t size);

#endif
