#include "tool/input.h"

#include "tool/messages.h"
#include "tool/progress.h"

#include "reader/read_history.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

bool open_file(struct mapped_file *file, const char *path)
{
    const int error = jd_mapped_file_open(file, path);
    if (error != 0)
        complain("%s: %s", path, error == EINVAL ? "not a regular file" : strerror(error));
    return error == 0;
}

bool read_history(struct history *history, const struct mapped_file *file, const char *path,
                  const struct problems *problems)
{
    const enum history_error error = jd_history_read(history, file, problems);
    progress_end();
    switch (error) {
    case HISTORY_OK:
        return true;
    case HISTORY_NO_DUMP:
        complain("%s: at offset 0x%" PRIx64 ": %s", path, history->reader.offset,
                 history->reader.reason);
        return false;
    case HISTORY_NO_MEMORY:
        complain("%s: out of memory", path);
        return false;
    case HISTORY_TOO_LARGE:
        complain("%s: more than 4 billion pieces of code", path);
    }
    return false;
}
