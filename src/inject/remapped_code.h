/*
 * Mappings of a file's memory into which code had been loaded that is still there: it has only been made
 * executable once more.
 */
#ifndef JITDUMP_INJECT_REMAPPED_CODE_H
#define JITDUMP_INJECT_REMAPPED_CODE_H

#include "inject/profile_clock.h"

/* A life in the profile's times. */
struct timed_life {
    uint64_t address;
    uint64_t begin;
    uint64_t end;
};

/* All of a dump's, by address. To be freed with free(). NULL: out of memory. */
struct timed_life *jd_timed_lives(const struct history *history, const struct profile_clock *clock);

/* The mappings, one at least, are of one file, in one process. `of_code` receives, for each, whether it is
 * such a one: it has code that was loaded after an earlier of them, and is there. False: out of memory. */
bool jd_remapped_find(const struct timed_life *lives, uint32_t life_count,
                      const struct scanned_mapping *const *mappings, uint64_t count, bool *of_code);

#endif
