/*
 * What JITDUMP_DEBUG says on standard error.
 */
#ifndef JITDUMP_REPORT_H
#define JITDUMP_REPORT_H

#include "handle.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Of one dump; the last says that it is the last. */
#define REPORTS_MAX 100

static inline bool wants_reports(const struct jitdump *dump)
{
    return (dump->flags & JITDUMP_DEBUG) != 0;
}

/* Makes it one line, and harmless on a terminal: '?' for control characters. */
void jd_make_printable(char *text);

/* Writes "jitdump: TEXT" and a line's end to standard error, whoever asks. */
void jd_say(const char *text);

/* One line, if reports are wanted and the dump has not made REPORTS_MAX of them. Takes a stack of 1 KiB
 * besides what snprintf() does; not async-signal-safe. */
__attribute__((format(printf, 2, 3))) void jd_report(struct jitdump *dump, const char *format, ...);

/* The same of a call that returns `error`, with the name of what it was given, if it has one. */
void jd_report_refusal(struct jitdump *dump, int error, const char *call, const char *name);

/* For the end of such a call. */
static inline int reported(struct jitdump *dump, int error, const char *call, const char *name)
{
    if (error != 0 && wants_reports(dump))
        jd_report_refusal(dump, error, call, name);
    return error;
}

#pragma GCC visibility pop

#endif
