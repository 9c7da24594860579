/*
 * JIT_CODE_DEBUG_INFO: a function's line table.
 */
#ifndef JITDUMP_DEBUG_INFO_H
#define JITDUMP_DEBUG_INFO_H

#include "record.h"

/* `size` receives the record's size: 0 if the function has no lines. */
int debug_info_check(const struct jitdump_code *code, uint64_t *size);
unsigned char *debug_info_write(unsigned char *to, const struct record_stamp *stamp,
                                const struct jitdump_code *code);

#endif
