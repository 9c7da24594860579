/*
 * From a piece's records to its description.
 */
#ifndef JITDUMP_READER_READ_DESCRIPTION_H
#define JITDUMP_READER_READ_DESCRIPTION_H

#include "reader/description.h"

/* An empty one is {0}. */
void jd_description_free(struct description *description);

/* Reads the piece's records. Those that break their format's rules are told to `problems` (which may be
 * NULL), and the next kind is tried. False: out of memory; the description is empty. */
bool jd_description_read(struct description *description, const struct history *history,
                         const struct piece *piece, const struct problems *problems);

#endif
