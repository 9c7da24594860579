/*
 * A function's group of records, read as docs/format.md has it and compared with what the caller
 * said. Knows the on-disk structures, and nothing of how they are made. What is wrong is told on
 * stderr, and then the process aborts, which is what a fuzzer looks for.
 */
#ifndef JITDUMP_TESTS_RECORDS_H
#define JITDUMP_TESTS_RECORDS_H

#include "jitdump.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

_Noreturn void wrong(const char *what, uint64_t is, uint64_t should);

static inline void expect(const char *what, uint64_t is, uint64_t should)
{
    if (is != should)
        wrong(what, is, should);
}

/* Bytes to be read from the front. */
struct reader {
    const unsigned char *at;
    size_t left;
};

/* What is next, to be copied from: it may lie at any address. */
const void *read_bytes(struct reader *reader, size_t size);
const char *read_string(struct reader *reader);

/* One record: its id, and its payload as a reader of its own. Times don't go back behind
 * *timestamp, which becomes the record's. */
uint32_t read_record(struct reader *reader, struct reader *payload, uint64_t *timestamp);

enum known { KNOWN_NOT, KNOWN, KNOWN_PERHAPS };

/* The dump that the group is in, and what it knows. */
struct file_facts {
    uint32_t pid;
    uint32_t tid;
    uint32_t elf_mach;
    uint32_t dialect; /* enum jitdump_dialect */
    bool tier_records;
    bool outermost;
    const char *track; /* the name of the track to emit */
    /* What the path of each file begins with that stands for a source, and whether there is one
     * for `path`. */
    const char *source_file_prefix;
    enum known (*has_source_file)(const void *context, const char *path);
    const void *context;
};

/* The tier that a function was given. */
struct tier_facts {
    uint32_t number; /* 0: none */
    uint32_t color;
    const char *name;
    const char *prefix;
};

/* Reads the group up to its end, and the code if `has_code`. */
void check_group(struct reader *reader, const struct file_facts *file,
                 const struct tier_facts *tier, const struct jitdump_code *code,
                 uint64_t code_index, bool has_code, uint64_t *timestamp);

/* The bytes of an eh_frame with the header behind it, against the description; records.c calls
 * it. FDE addresses are relative, or, where `hdr_size` is 0, absolute. */
void check_unwinding(const unsigned char *bytes, uint64_t frame_size, uint64_t hdr_size,
                     uint32_t elf_mach, const struct jitdump_code *code);

/* The same of frames that are taken out of a section: that they lie in the code, and that the
 * header's table leads to each. */
void check_copied_unwinding(const unsigned char *bytes, uint64_t frame_size, uint64_t hdr_size,
                            const struct jitdump_code *code);

/* The payload of the dialect's inline record against the track. */
void check_inline_2023(struct reader payload, const struct file_facts *file,
                       const struct jitdump_track *track, uint32_t code_size);
void check_inline_2026(struct reader payload, const struct file_facts *file,
                       const struct jitdump_track *track, const struct jitdump_code *code);

/* The name that a record has for the file `should`: its own, or that of the file that stands for
 * it. */
void expect_file(const struct file_facts *file, const char *is, const char *should);

/* The position of the track at an offset of the code; JITDUMP_NONE: none. */
uint32_t position_at(const struct jitdump_track *track, uint32_t code_offset);

/* The line, 0 for none; only then the other two mean something. */
struct place {
    uint32_t line;
    uint32_t column;
    const char *file;
};
struct place place_of(const struct jitdump_track *track, uint32_t position);

#endif
