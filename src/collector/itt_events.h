/*
 * What programs hand over by Intel's JIT profiling API: as its public header, jitprofiling.h of
 * https://github.com/intel/ittapi, lays it out. Only what is read here.
 */
#ifndef JITDUMP_COLLECTOR_ITT_EVENTS_H
#define JITDUMP_COLLECTOR_ITT_EVENTS_H

#include <stdint.h>

enum itt_event {
    ITT_SHUTDOWN = 2,
    ITT_LOAD = 13,
    ITT_UNLOAD = 14,
    ITT_UPDATE = 15,
    ITT_INLINE_LOAD = 16,
    /* Says whether memory is code or data, and belongs to no method. */
    ITT_UPDATE_V2 = 17,
    ITT_LOAD_V2 = 21,
    ITT_LOAD_V3 = 22
};

struct itt_line {
    uint32_t offset;
    uint32_t line;
};

/* How all loads begin. */
struct itt_load {
    uint32_t id;
    const char *name;
    const void *address;
    uint32_t size;
    uint32_t line_count;
    const struct itt_line *lines;
};

struct itt_load_v1 {
    struct itt_load load;
    uint32_t class_id;
    const char *class_name;
    const char *file;
};

/* The third version has a field more: of 32 or 64 bits, which the process has said already. */
struct itt_load_v2 {
    struct itt_load load;
    const char *class_name;
    const char *file;
    const char *module;
};

struct itt_inline_load {
    uint32_t id;
    uint32_t parent_id;
    const char *name;
    const void *address;
    uint32_t size;
    uint32_t line_count;
    const struct itt_line *lines;
    const char *class_name;
    const char *file;
};

#endif
