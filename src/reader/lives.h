/*
 * From loads and moves to lives: the second half of reading a history.
 */
#ifndef JITDUMP_READER_LIVES_H
#define JITDUMP_READER_LIVES_H

#include "reader/history.h"

/* A JIT_CODE_LOAD or JIT_CODE_MOVE. */
struct history_event {
    uint64_t timestamp;
    uint64_t offset; /* of the record */
    uint32_t piece;  /* of a load; HISTORY_NONE: it is a move */
    uint32_t move;   /* index of moves */
};

struct history_move {
    uint64_t code_index;
    uint64_t old_code_addr;
    uint64_t new_code_addr;
};

/* Sorts the events, and sets history->lives and all that the pieces and lives say of each other. */
enum history_error jd_lives_read(struct history *history, struct history_event *events,
                                 uint64_t event_count, const struct history_move *moves,
                                 const struct problems *problems);

#endif
