/*
 * jitdump dump: what a dump holds.
 */
#include "tool/command.h"
#include "tool/messages.h"

#include "reader/history.h"

#include <string.h>

int dump_command(int argc, char **argv)
{
    if (argc != 2)
        return point_to_help(argv[0]);
    struct mapped_file file;
    const int error = jd_mapped_file_open(&file, argv[1]);
    if (error != 0) {
        complain("%s: %s", argv[1], strerror(error));
        return STATUS_TROUBLE;
    }
    struct history history;
    const enum history_error result = jd_history_read(&history, &file, NULL);
    jd_history_free(&history);
    jd_mapped_file_close(&file);
    return result == HISTORY_OK ? STATUS_OK : STATUS_TROUBLE;
}
