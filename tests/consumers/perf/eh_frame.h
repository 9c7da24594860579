/* The unwinding data of one function, as perf wants it: eh_frame, to lie behind the code
 * rounded up to 8 bytes, and the eh_frame_hdr that follows it. */
#ifndef EH_FRAME_H
#define EH_FRAME_H

#include "codegen.h"

#define EH_FRAME_MAX 256
#define EH_FRAME_HDR_SIZE 20

struct eh_frame {
    uint8_t frame[EH_FRAME_MAX];
    uint32_t frame_size;
    uint8_t header[EH_FRAME_HDR_SIZE];
};

void eh_frame_build(struct eh_frame *, const struct assembler *);

/* How many bytes perf takes the function for: the code, rounded up to 8, and both tables. */
uint32_t eh_frame_end(const struct eh_frame *, const struct assembler *);

#endif
