/*
 * The records of the sources that a dump knows.
 */
#ifndef JITDUMP_SOURCE_RECORDS_H
#define JITDUMP_SOURCE_RECORDS_H

#include "append.h"

#pragma GCC visibility push(hidden)

/* Whether the dump's dialect has a record for them. */
bool jd_has_source_records(const struct jitdump *dump);

/* The record of a source that has its text. */
struct group jd_source_group(const struct source *source);

/* The records of all: for the child of a fork, which inherits them. */
int jd_append_sources(struct jitdump *dump);

#pragma GCC visibility pop

#endif
