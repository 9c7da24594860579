#include "../platform/c_library.h"

#include "report.h"

#include "../system/write_all.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Together on the stack of a load. */
#define LINE_SIZE 1024
#define REPORT_SIZE 512

void jd_make_printable(char *text)
{
    for (char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == '\x7f')
            *c = '?';
}

/* In one write, so that no other thread's output comes between. */
void jd_say(const char *text)
{
    char line[LINE_SIZE];
    snprintf(line, sizeof(line), "jitdump: %s", text);
    jd_make_printable(line);
    const size_t size = strlen(line);
    line[size] = '\n';
    jd_write_all(STDERR_FILENO, &(struct iovec){line, size + 1}, 1, SIGPIPE);
}

void jd_report(struct jitdump *dump, const char *format, ...)
{
    if (!wants_reports(dump))
        return;
    /* A count: nothing is published with it. */
    const uint32_t before = atomic_fetch_add_explicit(&dump->reports, 1, memory_order_relaxed);
    if (before >= REPORTS_MAX) {
        atomic_fetch_sub_explicit(&dump->reports, 1, memory_order_relaxed);
        return;
    }
    const struct process_shield shield = jd_process_shield();
    char text[REPORT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    jd_say(text);
    if (before == REPORTS_MAX - 1)
        jd_say("that is enough: no more is said of this dump");
    jd_process_unshield(shield);
}

void jd_report_refusal(struct jitdump *dump, int error, const char *call, const char *name)
{
    /* Every call returns a sticky error from then on. Relaxed, as a count. */
    if (error == sticky_error(dump) &&
        atomic_exchange_explicit(&dump->sticky_reported, 1, memory_order_relaxed) != 0)
        return;
    if (name != NULL && name[0] != '\0')
        jd_report(dump, "%s of %.120s: %s", call, name, jitdump_strerror(error));
    else
        jd_report(dump, "%s: %s", call, jitdump_strerror(error));
}
