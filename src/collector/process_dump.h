/*
 * The process's one dump, whatever the code is reported by: opened when the first code is.
 */
#ifndef JITDUMP_COLLECTOR_PROCESS_DUMP_H
#define JITDUMP_COLLECTOR_PROCESS_DUMP_H

#include "jitdump.h"
#include "told_already.h"

#include <stdatomic.h>
#include <stdbool.h>

/* False: nothing may be done here, since the program runs with more rights than its user has, or the
 * user has said JITDUMP=0. */
bool jd_collector_allowed(void);

/* Appends the code, of which code_bytes is NULL: the bytes are copied from code_addr. What can't be read
 * there is no code, and nothing is appended; nor is what another interface has told of with no less about it.
 * Whatever fails is only reported. */
void jd_collector_load(struct jitdump_code *code, enum loaded_by by);

/* Writes what is still buffered. Opens nothing. */
void jd_collector_flush(void);

/* A line on standard error, if the user wants reports ($JITDUMP has the word `debug`) and `*said` is
 * still 0. (Not a byte: riscv64 exchanges none without libatomic.) */
__attribute__((format(printf, 2, 3))) void jd_collector_report(atomic_uint *said, const char *format, ...);

#endif
