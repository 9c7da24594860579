/*
 * What perf writes: the numbers of a perf.data file and of its events.
 *
 * The kernel's text is include/uapi/linux/perf_event.h, perf's own
 * tools/perf/Documentation/perf.data-file-format.txt. They are said again here since no header
 * of Linux is to be needed where a profile is read.
 */
#ifndef JITDUMP_FORMAT_PERF_DATA_H
#define JITDUMP_FORMAT_PERF_DATA_H

#include <stdint.h>

/* "PERFILE2", as a number of a little-endian machine. */
#define PERF_DATA_MAGIC UINT64_C(0x32454c4946524550)
#define PERF_DATA_MAGIC_SWAPPED UINT64_C(0x50455246494c4532)

/* A file. */
struct perf_data_section {
    uint64_t offset;
    uint64_t size;
};
_Static_assert(sizeof(struct perf_data_section) == 16, "perf.data");

struct perf_data_header {
    uint64_t magic;
    uint64_t size; /* of this */
    uint64_t attr_size;
    struct perf_data_section attrs;
    struct perf_data_section data;
    struct perf_data_section event_types;
    /* A bit for each feature. In its order, from the data's end on, is a section for each that is
     * set. */
    uint64_t features[4];
};
_Static_assert(sizeof(struct perf_data_header) == 104, "perf.data");

/* Of the features: where the AUX traces' events lie. A number of them, then for each its offset in the
 * file and its size, 8 bytes each. */
#define PERF_FEATURE_AUXTRACE 18
/* The profile has several files; some of its events are compressed. */
#define PERF_FEATURE_DIR_FORMAT 24
#define PERF_FEATURE_COMPRESSED 27
/* Descriptions of tracepoints. */
#define PERF_FEATURE_TRACING_DATA 1

/* What goes through a pipe has these 16 bytes of it, and its attributes and features as events. */
#define PERF_DATA_PIPE_HEADER_SIZE 16

/* An event. `size` counts the header. */
struct perf_event_header {
    uint32_t type;
    uint16_t misc;
    uint16_t size;
};
_Static_assert(sizeof(struct perf_event_header) == 8, "perf.data");

enum perf_event_type {
    PERF_EVENT_MMAP = 1,
    PERF_EVENT_LOST = 2,
    PERF_EVENT_COMM = 3,
    PERF_EVENT_EXIT = 4,
    PERF_EVENT_FORK = 7,
    PERF_EVENT_SAMPLE = 9,
    PERF_EVENT_MMAP2 = 10,
    PERF_EVENT_LOST_SAMPLES = 13,
    PERF_EVENT_NAMESPACES = 16,
    PERF_EVENT_DEFERRED_CHAIN = 22,
    /* From here on, of perf itself: without the fields that end the kernel's. */
    PERF_EVENT_USER = 64,
    PERF_EVENT_HEADER_ATTR = 64,
    PERF_EVENT_TRACING_DATA = 66,
    PERF_EVENT_FINISHED_ROUND = 68,
    PERF_EVENT_AUXTRACE = 71,
    PERF_EVENT_TIME_CONV = 79,
    PERF_EVENT_HEADER_FEATURE = 80,
    PERF_EVENT_COMPRESSED = 81,
    PERF_EVENT_FINISHED_INIT = 82,
    PERF_EVENT_COMPRESSED2 = 83
};

/* Bits of perf_event_header.misc. */
enum perf_event_misc {
    PERF_MISC_CPUMODE = 7, /* a mask */
    PERF_MISC_KERNEL = 1,
    PERF_MISC_USER = 2,
    PERF_MISC_MMAP_DATA = 1 << 13,    /* of PERF_EVENT_MMAP: not executable */
    PERF_MISC_COMM_EXEC = 1 << 13,    /* of PERF_EVENT_COMM: by exec */
    PERF_MISC_MMAP_BUILD_ID = 1 << 14 /* of PERF_EVENT_MMAP2: in place of device and inode */
};

/* perf_event_attr: where its fields lie, and what they say. */
enum perf_attr_offset {
    PERF_ATTR_TYPE = 0,
    PERF_ATTR_SIZE = 4,
    PERF_ATTR_CONFIG = 8,
    PERF_ATTR_SAMPLE_TYPE = 24,
    PERF_ATTR_READ_FORMAT = 32,
    PERF_ATTR_FLAGS = 40,
    PERF_ATTR_BRANCH_SAMPLE_TYPE = 72,
    PERF_ATTR_SAMPLE_REGS_USER = 80,
    PERF_ATTR_SAMPLE_STACK_USER = 88,
    PERF_ATTR_CLOCKID = 92,
    PERF_ATTR_SIZE_VER0 = 64
};

/* Bits of the word at PERF_ATTR_FLAGS, of a little-endian machine's. */
#define PERF_ATTR_SAMPLE_ID_ALL (UINT64_C(1) << 18)
#define PERF_ATTR_USE_CLOCKID (UINT64_C(1) << 25)

/* What a sample has, in the order in which it has it; but PERF_SAMPLE_IDENTIFIER comes first. */
enum perf_sample_type {
    PERF_SAMPLE_IP = 1 << 0,
    PERF_SAMPLE_TID = 1 << 1,
    PERF_SAMPLE_TIME = 1 << 2,
    PERF_SAMPLE_ADDR = 1 << 3,
    PERF_SAMPLE_READ = 1 << 4,
    PERF_SAMPLE_CALLCHAIN = 1 << 5,
    PERF_SAMPLE_ID = 1 << 6,
    PERF_SAMPLE_CPU = 1 << 7,
    PERF_SAMPLE_PERIOD = 1 << 8,
    PERF_SAMPLE_STREAM_ID = 1 << 9,
    PERF_SAMPLE_RAW = 1 << 10,
    PERF_SAMPLE_BRANCH_STACK = 1 << 11,
    PERF_SAMPLE_REGS_USER = 1 << 12,
    PERF_SAMPLE_STACK_USER = 1 << 13,
    PERF_SAMPLE_IDENTIFIER = 1 << 16
};

enum perf_read_format {
    PERF_READ_TOTAL_TIME_ENABLED = 1 << 0,
    PERF_READ_TOTAL_TIME_RUNNING = 1 << 1,
    PERF_READ_ID = 1 << 2,
    PERF_READ_GROUP = 1 << 3,
    PERF_READ_LOST = 1 << 4
};

/* Of perf_event_attr.branch_sample_type: a word more in front of the branches. */
#define PERF_BRANCH_HW_INDEX (UINT64_C(1) << 17)
/* And a word more for each branch, behind all of them. */
#define PERF_BRANCH_COUNTERS (UINT64_C(1) << 19)

/* What stands in front of the registers: 0 if there are none, 1 for those of 32 bits, and the last that is known. */
#define PERF_REGISTERS_64 2

/* In a call chain, addresses from here on are marks: what follows is the kernel's, the user's … */
#define PERF_CONTEXT_MAX UINT64_C(0xfffffffffffff001)
#define PERF_CONTEXT_USER UINT64_C(0xfffffffffffffe00)

/* CLOCK_MONOTONIC, as perf_event_attr.clockid has it. */
#define PERF_CLOCK_MONOTONIC 1

#endif
