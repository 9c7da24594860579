/*
 * perf's records into bytes.
 *
 * An encoder is two functions over the same input: one checks it and says how many bytes
 * it will take, the other writes just so many. A record that ends with bytes of the
 * caller's (code, or a raw payload) is encoded up to those, its head; whoever appends
 * it puts the tail behind. Nothing lies between: perf finds the code of a JIT_CODE_LOAD
 * from the record's end, samply right behind the name.
 */
#ifndef JITDUMP_RECORD_H
#define JITDUMP_RECORD_H

#include "jitdump.h"
#include "../format/records.h"

#include <stddef.h>
#include <string.h>

#pragma GCC visibility push(hidden)

/* What a group of records gets from the place and the moment of its append. */
struct record_stamp {
    uint64_t timestamp;
    uint64_t code_index;
    uint32_t pid;
    uint32_t tid;
    uint32_t elf_mach; /* of the dump */
};

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

/* The bytes at `from` go to `to`, which need not be aligned. Returns what is behind. */
static inline unsigned char *put(unsigned char *to, const void *from, size_t size)
{
    memcpy(to, from, size);
    return to + size;
}

static inline struct jit_record_header record_header(uint32_t id, uint64_t total_size,
                                                     const struct record_stamp *stamp)
{
    return (struct jit_record_header){id, (uint32_t)total_size, stamp->timestamp};
}

#pragma GCC visibility pop

#endif
