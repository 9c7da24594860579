/*
 * From a dump to its history.
 */
#ifndef JITDUMP_READER_READ_HISTORY_H
#define JITDUMP_READER_READ_HISTORY_H

#include "reader/history.h"
#include "reader/mapped_file.h"

/* Reads the whole dump. Records that can't be read are told to `problems` (which may be NULL) and left
 * out; a dump that is cut off or breaks off is read so far, see reader.end. After an error the
 * history is empty, and may be freed. */
enum history_error jd_history_read(struct history *history, const struct mapped_file *file,
                                   const struct problems *problems);

#endif
