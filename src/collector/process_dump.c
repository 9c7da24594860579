#include "platform/c_library.h"

#include "process_dump.h"

#include "emitter/report.h"
#include "memory.h"
#include "system/shield.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

/* No function is as large. QEMU tells GDB that all the memory where its code will be, of 128 MiB and more, is
 * one: nothing is there yet, and all would be copied. */
#define FUNCTION_SIZE_MAX (UINT64_C(16) << 20)

/* Whether it was tried; `dump` is written before. Released by open_it(), acquired by the_dump(). */
static atomic_bool tried;
static struct jitdump *dump;

/* The process that opens it; 0: none yet. In the child of a fork it is the parent, whose thread that
 * opens the child does not have. A lock and a fork handler would not do: a handler that is registered
 * while another thread is in fork() does not run in that child. */
static _Atomic pid_t opener;

static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* The environment's; NULL in a setuid program. */
static const char *wishes(void)
{
    const char *const text = jd_process_getenv("JITDUMP");
    return text != NULL ? text : "";
}

bool jd_collector_allowed(void)
{
    return getauxval(AT_SECURE) == 0 && strcmp(wishes(), "0") != 0;
}

void jd_collector_report(atomic_uint *said, const char *format, ...)
{
    char text[512];
    if (!has_word(wishes(), "debug") || atomic_exchange(said, 1))
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    jd_make_printable(text);
    jd_say(text);
}

/* Who has this loaded wants a dump; $JITDUMP says more, if it is set. */
static void open_it(void)
{
    if (wishes()[0] != '\0')
        jitdump_open_from_environment(&dump, NULL);
    else
        jitdump_open(&dump, NULL);
    atomic_store_explicit(&tried, true, memory_order_release);
}

/* NULL: there is none, and it has been said why. One thread opens it; others that come meanwhile look
 * again. */
static struct jitdump *the_dump(void)
{
    const struct timespec moment = {.tv_nsec = 50000};
    while (!atomic_load_explicit(&tried, memory_order_acquire)) {
        const pid_t self = getpid();
        pid_t known = atomic_load_explicit(&opener, memory_order_relaxed);
        if (known == self)
            nanosleep(&moment, NULL);
        else if (atomic_compare_exchange_strong(&opener, &known, self))
            open_it();
    }
    return dump;
}

/* Frames and lines of others may have what can't be written; then the name is better than nothing. The
 * library says itself what it refuses. */
static void load_what_can_be(struct jitdump *to, struct jitdump_code *code)
{
    if (jitdump_load(to, code, NULL) == 0)
        return;
    if (code->eh_frame != NULL) {
        code->eh_frame = NULL;
        code->eh_frame_size = 0;
        code->eh_frame_addr = 0;
        if (jitdump_load(to, code, NULL) == 0)
            return;
    }
    if (code->tracks != NULL) {
        code->tracks = NULL;
        code->track_count = 0;
        jitdump_load(to, code, NULL);
    }
}

void jd_collector_load(struct jitdump_code *code, enum loaded_by by)
{
    static atomic_uint said, said_large;
    if (code->code_size > FUNCTION_SIZE_MAX) {
        jd_collector_report(&said_large, "%s is left out: no function is of %" PRIu64 " bytes", code->name,
                            code->code_size);
        return;
    }
    struct jitdump *const to = the_dump();
    if (to == NULL)
        return;
    void *const bytes = jd_memory_copy(code->code_addr, code->code_size);
    if (bytes == NULL) {
        jd_collector_report(&said, "no code can be read where %s is reported", code->name);
        return;
    }
    code->struct_size = sizeof(*code);
    code->code_bytes = bytes;
    if (!jd_told_already(code, by))
        load_what_can_be(to, code);
    free(bytes);
}

void jd_collector_flush(void)
{
    if (atomic_load_explicit(&tried, memory_order_acquire))
        jitdump_flush(dump);
}
