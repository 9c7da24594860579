/*
 * What an append gives to the records that it writes.
 *
 * An encoder is two functions over the same input: one checks it and says how many bytes
 * it will take, the other writes just so many. A record that ends with bytes of the
 * caller's (code, or a raw payload) is encoded up to those, its head; whoever appends
 * it puts the tail behind. Nothing lies between: perf finds the code of a JIT_CODE_LOAD
 * from the record's end, samply right behind the name.
 */
#ifndef JITDUMP_ENCODE_STAMP_H
#define JITDUMP_ENCODE_STAMP_H

#include "../format/put.h"
#include "../format/records.h"

/* What a group of records gets from the place and the moment of its append. */
struct record_stamp {
    uint64_t timestamp;
    uint64_t code_index;
    uint32_t pid;
    uint32_t tid;
    uint32_t elf_mach; /* of the dump */
};

static inline struct jit_record_header record_header(uint32_t id, uint64_t total_size,
                                                     const struct record_stamp *stamp)
{
    return (struct jit_record_header){id, (uint32_t)total_size, stamp->timestamp};
}

#endif
