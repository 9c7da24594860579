/*
 * A function's unwinding data: .eh_frame and the .eh_frame_hdr that indexes it, given by the
 * caller as bytes or built from a description.
 */
#ifndef JITDUMP_EH_FRAME_H
#define JITDUMP_EH_FRAME_H

#include "frame_copy.h"

#pragma GCC visibility push(hidden)

struct unwind_size {
    uint64_t eh_frame;
    uint64_t eh_frame_hdr;
};

/* `frames`, if not NULL, is where a section's frames may be looked up. `size` receives both sizes: 0 after an error, and if the function has no unwinding data. */
int jd_unwind_check(const struct jitdump_code *code, uint32_t elf_mach,
                    const struct frame_index *frames, struct unwind_size *size);

/* Writes eh_frame and behind it eh_frame_hdr, of what jd_unwind_check() has found good. Returns
 * their sizes. */
struct unwind_size jd_unwind_write(unsigned char *to, uint32_t elf_mach,
                                   const struct frame_index *frames,
                                   const struct jitdump_code *code);

/* The bytes of an .eh_frame with absolute addresses, of a code whose `unwind` is not NULL. With `to`
 * NULL they are only counted. `size` is 0 after an error. */
int jd_eh_frame_absolute(const struct jitdump_code *code, uint32_t elf_mach, unsigned char *to,
                         uint64_t *size);

/* How far behind the code's start perf's ELF file has the eh_frame. */
static inline uint64_t eh_frame_offset(uint64_t code_size)
{
    return (code_size + 7) / 8 * 8;
}

#pragma GCC visibility pop

#endif
