/*
 * Call chains that only perf knows, since it unwinds them from copies of the stack.
 */
#ifndef JITDUMP_TOOL_RECORD_CHAINS_H
#define JITDUMP_TOOL_RECORD_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

/* Unwinding takes perf a millisecond and more for each sample: no more than these are looked at, of those
 * in generated code or below it. */
#define RECORD_CHAINS_MAX 2000

struct record_chains {
    uint64_t all;   /* that begin in generated code */
    uint64_t whole; /* each frame is known, and the outermost is in another file */
    uint64_t below; /* samples outside of generated code that some of it has called */
};

/* Asks perf script. Generated code is what lies in ELF files in `directory`. False: perf did not
 * say, or found none. */
bool record_chains_count(struct record_chains *chains, const char *profile, const char *directory);

#endif
