/*
 * A function's unwinding data: the entries of its JIT_CODE_UNWINDING_INFO, for where its code lies
 * now.
 *
 * They lie as perf expects them: behind the code, rounded up to 8.
 */
#ifndef JITDUMP_WRITERS_FUNCTION_FRAMES_H
#define JITDUMP_WRITERS_FUNCTION_FRAMES_H

#include "format/eh_frame.h"
#include "writers/placed.h"

struct function_frames {
    struct span eh_frame;     /* empty: V8 describes most code by a header alone */
    struct span eh_frame_hdr; /* together with eh_frame, in this order or the other */
    bool swapped;             /* not in this machine's byte order */
    uint64_t loaded_at;       /* where the data say that the code is */
    uint64_t address;         /* where it is */
    uint64_t size;
};

/* Where the data are. Returns NULL, or what is wrong with their record. A piece without one has an empty
 * eh_frame. */
const char *function_frames_find(struct function_frames *frames, const struct history *history,
                                 const struct placed *placed);

/* Gives each entry for some of the code to `add`: as it is in the data, but for its address and size,
 * which are those of the code where it lies now, and within it. The reader is that of the data, for
 * jd_frame_rows(). Returns NULL, or why the data can't be used, a static text: what they say is
 * wrong, or what `add` returned. */
const char *function_frames_read(const struct function_frames *frames, unsigned int address_size,
                                 const char *(*add)(void *context, struct eh_frame *reader,
                                                    const struct frame_fde *fde),
                                 void *context);

#endif
