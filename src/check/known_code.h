/*
 * What lies where in a process, as a dump says it: the process's own, or that of one it was forked from,
 * whose code it has as it was at the fork.
 */
#ifndef JITDUMP_CHECK_KNOWN_CODE_H
#define JITDUMP_CHECK_KNOWN_CODE_H

#include "reader/history.h"
#include "reader/life_index.h"
#include "reader/perf_event.h"

/* How the dump's times are those of a profile. */
struct known_times {
    /* Whether they can be compared. */
    bool comparable;
    /* Of TSC times. Where it is not known, the shift is to be added. */
    struct perf_conversion conversion;
    uint64_t shift;
    /* How early a sample may seem to be. */
    uint64_t tolerance;
};

struct known_code {
    const struct history *history;
    struct known_times times;
    /* In the profile's time: what lay there then lies there still. UINT64_MAX: it goes on. */
    uint64_t until;
    /* By piece: for whoever counts. */
    uint32_t *of_piece;

    struct indexed_life *places; /* of history->lives; all of the time if times can't be compared */
    struct life_index index;
    uint64_t *addresses; /* where they begin, ascending */
};

/* `history`, `times` and `until` are set. False: out of memory. To be freed in any case; `of_piece` is the
 * caller's to free. */
bool jd_known_code_init(struct known_code *code);
void jd_known_code_free(struct known_code *code);

/* A time of the dump as a time of the profile. */
uint64_t jd_known_time(const struct known_times *times, uint64_t time);

/* The life at the address at that time of the profile, or the last if times can't be compared; NULL: none.
 * `other` is then one that was there at another time, the nearest by time, or NULL. */
const struct life *jd_known_code_at(const struct known_code *code, uint64_t address, uint64_t time,
                                    const struct life **other);

/* Whether any of it ever began there. */
bool jd_known_code_in(const struct known_code *code, uint64_t begin, uint64_t end);

#endif
