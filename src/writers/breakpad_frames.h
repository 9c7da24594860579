/*
 * Unwinding data -> the lines STACK CFI of a Breakpad symbol file.
 *
 * Readers use such a line only where it says both the CFA and the return address. So the lines leave
 * out code where one of them is a DWARF expression, or in a register that has no name there. Of other
 * registers such a rule is left out alone.
 */
#ifndef JITDUMP_WRITERS_BREAKPAD_FRAMES_H
#define JITDUMP_WRITERS_BREAKPAD_FRAMES_H

#include "reader/frame_rows.h"
#include "writers/bytes.h"
#include "writers/function_frames.h"

struct breakpad_frames {
    uint64_t base; /* what addresses count from */
    const struct breakpad_cpu *cpu;
    const char *const *names; /* of registers */
    uint8_t address_size;

    /* Of the function that is being read. */
    struct frame_fde *fdes;
    size_t fde_count;
    size_t fde_capacity;
    struct eh_frame reader;
    bool failed; /* no memory */

    /* Of the lines that are being written: from the address `begin`, if any are. */
    bool is_open;
    uint64_t begin;
    uint64_t end;
    uint32_t return_address;
    struct frame_row written; /* what the lines say so far */
    struct bytes first;       /* the rules at `begin` */
    struct bytes changes;
    struct bytes *text;
};

/* False: nobody reads STACK CFI of this machine. */
bool breakpad_frames_init(struct breakpad_frames *frames, uint32_t elf_mach, uint64_t base);
void breakpad_frames_free(struct breakpad_frames *frames);

/* Writes the lines of a function behind `text`. Returns NULL, or why its data can't be used, a
 * static text; then nothing is written. Out of memory is in `failed`. */
const char *breakpad_frames_add(struct breakpad_frames *frames,
                                const struct function_frames *function, struct bytes *text);

/* Whether memory ran out anywhere. */
bool breakpad_frames_failed(const struct breakpad_frames *frames);

#endif
