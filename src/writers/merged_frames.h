/*
 * One .eh_frame and .eh_frame_hdr from those of many functions.
 *
 * Each function's entries are checked, and written anew for where the code lies now: relative
 * addresses of four bytes, one CIE for all that are alike, without personality routines and their
 * data, which only exceptions need.
 */
#ifndef JITDUMP_WRITERS_MERGED_FRAMES_H
#define JITDUMP_WRITERS_MERGED_FRAMES_H

#include "writers/bytes.h"
#include "writers/function_frames.h"

struct merged_frames {
    struct bytes bytes; /* .eh_frame */
    uint64_t address;   /* its first byte's */
    uint8_t address_size;

    struct merged_frames_entry {
        uint64_t location;
        uint32_t offset; /* of the FDE, in `bytes` */
    } *entries;
    size_t entry_count;
    size_t entry_capacity;
    bool is_sorted;

    /* The CIEs that were written last: where they begin. */
    uint32_t cies[16];
    uint32_t cie_count; /* of all */
    struct span checked; /* instructions of a CIE, in the dump, that can be used */
};

void merged_frames_init(struct merged_frames *frames, uint64_t address, bool big_endian,
                        uint8_t address_size);
void merged_frames_free(struct merged_frames *frames);

/* Returns NULL, or why the function's data can't be used, a static text; then nothing of them is.
 * Out of memory is in bytes.failed. */
const char *merged_frames_add(struct merged_frames *frames,
                              const struct function_frames *function);

/* Ends the section, and writes the table, which lies right behind it. */
void merged_frames_finish(struct merged_frames *frames, struct bytes *header);

#endif
