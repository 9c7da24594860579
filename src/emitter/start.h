/*
 * The start of a dump: its file, and its thread where there is to be one.
 */
#ifndef JITDUMP_START_H
#define JITDUMP_START_H

#include "append.h"

#pragma GCC visibility push(hidden)

/* The header of the file of process dump->pid, with the time of now. */
struct jitdump_file_header jd_file_header(const struct jitdump *dump);

/* Makes the file of the calling process, and its thread. */
int jd_start(struct jitdump *dump);

/* Takes back what jd_start() has made, because of `error`. A file that the program has opened stays. */
void jd_undo_start(struct jitdump *dump, int error);

/* The child's first append makes its file. Returns the error of that, which is sticky. */
int jd_start_in_child(struct jitdump *dump);

/* Before anything is appended: the sticky error, if there is one; the child of a fork starts its
 * dump. */
static inline int get_ready(struct jitdump *dump)
{
    const int status = load_status(dump);
    if (status == STATUS_OPEN)
        return 0;
    return status == STATUS_FORKED ? jd_start_in_child(dump) : status;
}

/* Appends the group. `index` receives its code_index. */
static inline int start_and_append(struct jitdump *dump, const struct group *group,
                                      uint64_t *index)
{
    const int error = get_ready(dump);
    return error != 0 ? error : jd_append_group(dump, group, index);
}

#pragma GCC visibility pop

#endif
