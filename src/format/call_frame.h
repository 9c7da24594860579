/*
 * DWARF's call frame instructions, one after the other: which bytes belong to each, not what it means.
 *
 *     while (jd_call_frame_next(&cursor, &instruction))
 *         ...
 *     if (cursor.error != NULL)
 *         ...
 */
#ifndef JITDUMP_FORMAT_CALL_FRAME_H
#define JITDUMP_FORMAT_CALL_FRAME_H

#include "cursor.h"

#pragma GCC visibility push(hidden)

enum call_frame_opcode {
    CALL_FRAME_NOP = 0x00,
    CALL_FRAME_SET_LOC = 0x01,
    CALL_FRAME_REMEMBER_STATE = 0x0a,
    CALL_FRAME_RESTORE_STATE = 0x0b
};

struct call_frame_instruction {
    /* Its first byte: where the high two bits are not 0, an operand is in the others. */
    uint8_t opcode;
    struct span bytes;
    /* It says that what follows holds so much further on, in units of the CIE's code alignment. */
    bool advances;
    uint64_t distance;
};

/* False: there is none, or the cursor has an error. Of CALL_FRAME_SET_LOC `bytes` is the first alone:
 * an address follows, in the CIE's encoding, which is to be read before the next instruction. */
bool jd_call_frame_next(struct cursor *cursor, struct call_frame_instruction *instruction);

#pragma GCC visibility pop

#endif
