/*
 * A dump's bytes, record by record, in file order.
 *
 * The reader knows headers and sizes, and nothing of what is in the records: see decode.h. What it
 * hands out points into the bytes that it was given, a file's mapping.
 */
#ifndef JITDUMP_READER_DUMP_READER_H
#define JITDUMP_READER_DUMP_READER_H

#include "format/cursor.h"
#include "format/records.h"

struct dump_record {
    uint64_t offset; /* in the file */
    uint32_t id;
    uint32_t total_size;
    uint64_t timestamp;
    struct span payload; /* what follows the record's header */
};

enum dump_end {
    DUMP_GOES_ON,
    /* The last record ends where the file ends. */
    DUMP_ENDS_WHOLE,
    /* The file ends within a record: it is still being written, or its writer died. `offset` is where
     * that record begins. */
    DUMP_CUT_OFF,
    /* The record at `offset` can't be one, so that nobody knows where the next begins; `reason` says
     * why. */
    DUMP_BROKEN
};

struct dump_reader {
    struct span file;
    /* The bytes are in the other order than this machine's. */
    bool swapped;
    /* In this machine's order. */
    struct jitdump_file_header header;

    /* Where the next record begins. */
    uint64_t offset;
    enum dump_end end;
    const char *reason;
};

/* The file's header. Returns false if this is no dump that can be read, with why in
 * `reader->reason` and where in `reader->offset`. A header of zeros, or none yet, is that of a dump that
 * is just being opened. */
bool jd_dump_reader_init(struct dump_reader *reader, struct span file);

/* The next record. False: there is none, `reader->end` says why. */
bool jd_dump_reader_next(struct dump_reader *reader, struct dump_record *record);

/* The record at an offset where jd_dump_reader_next() found one. The reader does not move. */
bool jd_dump_reader_at(const struct dump_reader *reader, uint64_t offset, struct dump_record *record);

/* The ELF machine of the code. A header that names none (CPython's) means the writer's own: that of this
 * build. */
uint32_t jd_dump_machine(const struct dump_reader *reader);

/* Whether the dump is of a big-endian machine. */
bool jd_dump_is_big_endian(const struct dump_reader *reader);

/* Over the record's payload, in the file's byte order; offsets are the file's. */
struct cursor jd_dump_record_cursor(const struct dump_reader *reader, const struct dump_record *record);

#endif
