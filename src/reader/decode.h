/*
 * The fields of single records, in this machine's byte order. Lines and inlining are in
 * description.h.
 *
 * Each function returns true if the record is what it says. Else it returns false, the reason is in
 * `problem`, and nothing of the result may be used. Strings and bytes point into the file.
 */
#ifndef JITDUMP_READER_DECODE_H
#define JITDUMP_READER_DECODE_H

#include "reader/dump_reader.h"
#include "reader/problem.h"

struct load_record {
    uint32_t pid;
    uint32_t tid;
    uint64_t vma;
    uint64_t code_addr;
    uint64_t code_size;
    uint64_t code_index;
    struct span name; /* without its NUL */
    /* From the record's end, as perf finds it (P7). */
    const unsigned char *code;
    /* Between the name's NUL and the code: samply takes these bytes for the code's first. */
    uint64_t padding;
};

struct move_record {
    uint32_t pid;
    uint32_t tid;
    uint64_t vma;
    uint64_t old_code_addr;
    uint64_t new_code_addr;
    uint64_t code_size;
    uint64_t code_index;
};

/* With the data as perf reads it: .eh_frame first, .eh_frame_hdr last (P13). In the process, or in the
 * file that perf makes, .eh_frame begins at the code's end, rounded up to 8 bytes. */
struct unwinding_record {
    struct span eh_frame;
    struct span eh_frame_hdr;
    uint64_t mapped_size;
};

struct tier_record {
    uint32_t tier_index;
    uint32_t color_index;
    struct span name;
};

struct source_record {
    struct span path;
    struct span text;
};

bool jd_decode_load(const struct dump_reader *reader, const struct dump_record *record,
                    struct load_record *load, struct problem *problem);
bool jd_decode_move(const struct dump_reader *reader, const struct dump_record *record,
                    struct move_record *move, struct problem *problem);
bool jd_decode_unwinding(const struct dump_reader *reader, const struct dump_record *record,
                         struct unwinding_record *unwinding, struct problem *problem);
bool jd_decode_tier(const struct dump_reader *reader, const struct dump_record *record,
                    struct tier_record *tier, struct problem *problem);
bool jd_decode_source(const struct dump_reader *reader, const struct dump_record *record,
                      struct source_record *source, struct problem *problem);

/* What a record of id 827346260 is: a tier in the dialect of 2023, the inline record in that of 2026.
 * A file does not say which, but the two look alike nowhere: where a tier has its name, the other has
 * counts. True: it is a tier. */
bool jd_is_tier(const struct dump_reader *reader, const struct dump_record *record);

#endif
