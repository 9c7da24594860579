/*
 * How far long work is: one line on standard error, written over itself, and only if that is a terminal.
 */
#ifndef JITDUMP_TOOL_PROGRESS_H
#define JITDUMP_TOOL_PROGRESS_H

#include <stdint.h>

/* "jitdump: reading, 34 %". For struct problems, too, whose context they do not look at. */
void progress_reading(void *context, uint64_t done, uint64_t whole);
void progress_writing(void *context, uint64_t done, uint64_t whole);

/* Before anything else is written on standard error, and when the work is done. */
void progress_end(void);

#endif
