/*
 * For targets that write what a dump's code is at an instant: any bytes as a dump.
 *
 * The first byte has the target's options and HALF_TIME, the second says which allocation fails; the
 * dump follows.
 */
#ifndef FUZZ_INSTANT_H
#define FUZZ_INSTANT_H

#include "failing_memory.h"

#include "reader/read_history.h"
#include "writers/placed.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HALF_TIME = 4 }; /* not the dump's end */

typedef void write_instant(const struct history *history, const struct placed *pieces, size_t count,
                           uint8_t options);

static void with_instant(const uint8_t *bytes, size_t size, write_instant *write)
{
    if (size < 2)
        return;
    unsigned char *const dump = malloc(size - 1); /* so that what is behind it is guarded */
    if (size > 2)
        memcpy(dump, bytes + 2, size - 2);
    const struct mapped_file file = {.data = dump, .size = size - 2};
    struct history history;
    failing = bytes[1];
    if (jd_history_read(&history, &file, NULL) == HISTORY_OK) {
        struct placed *pieces;
        size_t count;
        const uint64_t time =
            (bytes[0] & HALF_TIME) != 0
                ? history.reader.header.timestamp / 2 + history.last_timestamp / 2
                : UINT64_MAX;
        if (placed_at(&history, time, &pieces, &count)) {
            write(&history, pieces, count, bytes[0]);
            free(pieces);
        }
        jd_history_free(&history);
    }
    failing = 0;
    free(dump);
}

#endif
