/*
 * Pieces of code at the addresses where a writer is to show them, and the build id of what is
 * made of them.
 */
#ifndef JITDUMP_WRITERS_PLACED_H
#define JITDUMP_WRITERS_PLACED_H

#include "reader/history.h"
#include "writers/digest.h"

/* A piece, and where it lies. */
struct placed {
    const struct piece *piece;
    uint64_t address;
};

/* The code at an instant, disjoint, by ascending address, as jd_history_at() has it: the latest load or
 * move wins, and what it overlaps is gone. `pieces` receives an allocated array, to be freed with
 * free(). False: out of memory. */
bool placed_at(const struct history *history, uint64_t time, struct placed **pieces, size_t *count);

/* Whether the pieces ascend and no two overlap, none is empty, and none ends behind the last address. */
bool placed_are_disjoint(const struct placed *pieces, size_t count);

/* After how many pieces a writer tells how far it is. */
enum { PIECES_BETWEEN_PROGRESS = 1 << 11 };

/* The build id: of the machine and of each piece's place, code, name, and records of lines, inlining
 * and unwinding. So files of different formats that are made of the same pieces have one, and a
 * file's symbols are found by it. It does not depend on when the code was loaded, nor on the
 * process. */
void build_id_begin(struct digest *digest, const struct history *history);
void build_id_add(struct digest *digest, const struct history *history,
                  const struct placed *placed);

/* Before the piece at `at` is written: gets what the dump has of one further on into the cache. */
void placed_read_ahead(const struct history *history, const struct placed *pieces, size_t count,
                       size_t at);

#endif
