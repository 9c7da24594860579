#include "tool/instant.h"

#include "tool/dump.h"
#include "tool/input.h"
#include "tool/messages.h"
#include "tool/progress.h"

#include <inttypes.h>
#include <stdlib.h>

/* What is wrong with records: the first few are told, the rest counted. */
enum { TOLD_MAX = 5 };

static void tell(void *context, uint64_t offset, const char *reason)
{
    struct instant *const instant = context;
    progress_end();
    if (++instant->told <= TOLD_MAX)
        complain("%s: record at offset %#" PRIx64 " is left out: %s", instant->dump, offset,
                 reason);
}

/* What the writer has looked at is not needed again. */
static void progress(void *context, uint64_t done, uint64_t whole)
{
    const struct instant *const instant = context;
    jd_mapped_file_release(&instant->file);
    progress_writing(NULL, done, whole);
}

bool instant_open(struct instant *instant, const char *dump, const char *at)
{
    *instant = (struct instant){.dump = dump, .problems = {tell, instant, progress}};
    const struct problems reading = {tell, instant, progress_reading};
    uint64_t time = UINT64_MAX;
    if (!open_file(&instant->file, dump) ||
        !read_history(&instant->history, &instant->file, dump, &reading))
        return false;
    tell_end(dump, &instant->history.reader);
    if (at != NULL && !parse_time(&instant->history.reader, at, &time)) {
        complain("--at takes a time as it is shown, or 'end', not '%s'", at);
        return false;
    }
    if (!placed_at(&instant->history, time, &instant->pieces, &instant->count)) {
        complain("out of memory");
        return false;
    }
    return true;
}

void instant_close(struct instant *instant)
{
    if (instant->told > TOLD_MAX)
        complain("%s: %" PRIu64 " more records are left out; 'jitdump check' lists them",
                 instant->dump, instant->told - TOLD_MAX);
    free(instant->pieces);
    instant->pieces = NULL;
    jd_history_free(&instant->history);
    jd_mapped_file_close(&instant->file);
}
