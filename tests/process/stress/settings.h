/*
 * What the command line of the stress program says, `--name value` each.
 */
#ifndef JITDUMP_TESTS_SETTINGS_H
#define JITDUMP_TESTS_SETTINGS_H

#include "jitdump.h"
#include "workload.h"

#include <stdint.h>

#define THREADS_MAX 64

enum end { END_CLOSE, END_RETURN, END_EXIT, END__EXIT, END_FLUSH__EXIT, END_SEGV, END_ABORT,
           END_PAUSE };

extern struct settings {
    struct jitdump_options options;
    uint64_t flags;
    const char *journal_directory;
    const char *long_directory;
    /* So many are embedded before the appends. */
    uint64_t sources;
    uint64_t threads;
    uint64_t operations;
    uint64_t child_operations;
    /* Each thread calls jitdump_flush() after so many appends; 0: never. */
    uint64_t flush_every;
    /* The threads meet after so many appends, and look whether the file has them all; 0: never. */
    uint64_t meet_every;
    /* Each process forks so many children, down to so many generations. */
    uint64_t children;
    uint64_t generations;
    /* The first thread makes so many appends between two forks; 0: forks all over its appends. */
    uint64_t fork_every;
    /* enum end. */
    uint32_t end;
    uint32_t child_end;
    /* The end comes after so long, by a signal's handler in one of the threads; 0: when all have
     * appended. */
    uint64_t end_after_us;
    /* A signal whose handler calls jitdump_flush_from_signal() comes so often; 0: never. */
    uint64_t signal_interval_us;
    struct workload workload;
} settings;

/* Exits if they are none. */
void parse_arguments(int count, char **words);

#endif
