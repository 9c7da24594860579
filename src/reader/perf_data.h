/*
 * A profile: a perf.data file's header, its attributes, and its events in the order in
 * which they lie there.
 *
 * Knows the file, and of an event no more than its size; what is in one is perf_event.h's. What it
 * hands out points into the bytes that it was given. Of this machine's byte order alone.
 */
#ifndef JITDUMP_READER_PERF_DATA_H
#define JITDUMP_READER_PERF_DATA_H

#include "format/cursor.h"
#include "format/perf_data.h"

/* A perf_event_attr, as far as it tells how to read events and what was recorded. */
struct perf_attr {
    uint64_t offset; /* in the file */
    uint32_t type;
    uint64_t config;
    uint64_t sample_type; /* enum perf_sample_type, or'ed */
    uint64_t read_format; /* enum perf_read_format, or'ed */
    uint64_t flags;       /* PERF_ATTR_* */
    uint64_t branch_sample_type;
    uint64_t sample_regs_user;
    uint32_t sample_stack_user;
    int32_t clockid;
    struct span ids; /* 8 bytes each */
};

/* An event where it lies. */
struct perf_event {
    uint64_t offset; /* in the file */
    uint32_t type;   /* enum perf_event_type, or one that is not known here */
    uint16_t misc;
    /* With its header; also with an AUX trace, or a description of tracepoints, that lies behind it. */
    uint64_t size;
    struct span payload; /* what follows the event's header, without an AUX trace */
};

enum perf_data_end { PERF_DATA_GOES_ON, PERF_DATA_ENDS, PERF_DATA_BROKEN };

struct perf_data {
    struct span file;
    struct perf_data_header header;
    struct perf_attr *attrs;
    uint32_t attr_count;

    /* Where the next event begins, and where the events end. */
    uint64_t offset;
    uint64_t data_end;
    enum perf_data_end end;
    /* Of what can't be read. A static text; where is in `offset`. */
    const char *reason;
};

enum perf_data_error {
    PERF_DATA_OK,
    PERF_DATA_NOT_READABLE, /* see reason and offset */
    PERF_DATA_NO_MEMORY
};

/* Reads header and attributes. A file whose data size is 0, as perf leaves it when it is killed, has
 * its events up to the file's end. After an error `data` may be freed. */
enum perf_data_error jd_perf_data_init(struct perf_data *data, struct span file);
void jd_perf_data_free(struct perf_data *data);

/* The next event. False: there is none, data->end says why. */
bool jd_perf_data_next(struct perf_data *data, struct perf_event *event);

/* From the first event on once more. */
void jd_perf_data_rewind(struct perf_data *data);

/* The attribute of the event: by its id where there are several. NULL: none of them has it. */
const struct perf_attr *jd_perf_data_attr(const struct perf_data *data,
                                          const struct perf_event *event);

/* Over the event's payload; offsets are the file's. */
struct cursor jd_perf_event_cursor(const struct perf_data *data, const struct perf_event *event);

#endif
