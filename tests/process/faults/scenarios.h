/*
 * What is done with the library while its calls fail. Each step is one call of the library.
 */
#ifndef JITDUMP_TESTS_SCENARIOS_H
#define JITDUMP_TESTS_SCENARIOS_H

#include "faults.h"

#include <stdint.h>

struct scenario {
    const char *name;
    void (*run)(struct report *report, const char *directory, uint32_t flush_mode);
};

extern const struct scenario scenarios[]; /* the last has no name */

#endif
