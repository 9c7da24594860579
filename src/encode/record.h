/*
 * The records that are not about lines, inlining or frames: moves, raw ones, and the last.
 */
#ifndef JITDUMP_RECORD_H
#define JITDUMP_RECORD_H

#include "stamp.h"

#include "jitdump.h"

#pragma GCC visibility push(hidden)

struct record_move {
    uint64_t code_index;
    uint64_t old_code_addr;
    uint64_t new_code_addr;
    uint64_t code_size;
};

struct record_raw {
    uint32_t id;
    uint64_t payload_size;
};

/* The address range of code of a size that perf can keep in an int. */
int jd_record_range_check(uint64_t code_addr, uint64_t code_size);

int jd_record_move_check(const struct record_move *move);
unsigned char *jd_record_move_write(unsigned char *to, const struct record_stamp *stamp,
                                    const void *move);

int jd_record_raw_check(const struct record_raw *raw);
unsigned char *jd_record_raw_write(unsigned char *to, const struct record_stamp *stamp,
                                   const void *raw);

unsigned char *jd_record_close_write(unsigned char *to, const struct record_stamp *stamp,
                                     const void *unused);

#pragma GCC visibility pop

#endif
