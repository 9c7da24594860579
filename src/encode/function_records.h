/*
 * The group of records that a function makes.
 */
#ifndef JITDUMP_FUNCTION_RECORDS_H
#define JITDUMP_FUNCTION_RECORDS_H

#include "debug_info.h"
#include "frame_copy.h"
#include "samply.h"

#pragma GCC visibility push(hidden)

struct function_records {
    const struct jitdump_code *code;
    uint32_t elf_mach;
    const struct debug_info_settings *settings;
    const struct tiers *tiers;
    /* Where to look up frames; NULL: nowhere. */
    const struct frame_index *frames;
    /* Only used, and then reserved, if the code has tracks. */
    struct scratch *scratch;

    /* Set by the check. */
    const struct tier *tier;      /* NULL: none */
    size_t prefix_size;           /* of the tier's prefix to the name */
    struct text name;
    uint64_t unwinding_info_size; /* of the record; 0: none */
    struct debug_info debug_info;
};

/* JIT_CODE_DEBUG_INFO, the dialect's inline record and tier, JIT_CODE_UNWINDING_INFO (each if
 * there is any), JIT_CODE_LOAD without the code. All but the last belong to the next
 * JIT_CODE_LOAD in the file, whatever their address: hence one group. */
int jd_function_records_check(struct function_records *record, uint64_t *head_size);
unsigned char *jd_function_records_write(unsigned char *to, const struct record_stamp *stamp,
                                    const void *record);

#pragma GCC visibility pop

#endif
