/*
 * Line tables of Intel's JIT API.
 *
 * An entry is an offset and a line. The documentation says that the line is that of the code in front of
 * the offset, from the entry before on ("ends"); V8 and oneDNN's graph compiler mean the code behind it
 * ("starts"). The table itself does not say which, so it is inferred.
 */
#ifndef JITDUMP_COLLECTOR_ITT_LINES_H
#define JITDUMP_COLLECTOR_ITT_LINES_H

#include "itt_events.h"

#include <stdbool.h>

/* What the tables of one sender have shown so far. */
struct itt_line_evidence {
    uint32_t ends;
    uint32_t starts;
};

/* Whether the table's offsets are ends. In this order: $JITDUMP_ITT_LINES (`ends` or `starts`); an
 * offset at the code's end or behind it is an end, since no code starts there; a first offset of 0 is a
 * start; what the sender's other tables have shown; ends. */
bool jd_itt_lines_are_ends(const struct itt_line *lines, uint32_t count, uint32_t code_size,
                           struct itt_line_evidence *evidence);

/* Writes the table as starts to `to`, which has room for count + 1 entries, and returns how many
 * there are: ascending strictly, all inside the code. Line 0: none. */
uint32_t jd_itt_lines_to_starts(struct itt_line *to, const struct itt_line *lines, uint32_t count,
                                uint32_t code_size, bool ends);

/* The line of the table, of starts, at an offset; 0: none. */
uint32_t jd_itt_line_at(const struct itt_line *starts, uint32_t count, uint32_t offset);

/* Says that the code from `from` to `to` has no line any more. `starts` has room for two entries more; how
 * many there are then comes back. */
uint32_t jd_itt_lines_forget(struct itt_line *starts, uint32_t count, uint32_t from, uint32_t to);

#endif
