/*
 * An .eh_frame that a compiler could have made, with something hostile in it here and there.
 */
#ifndef JITDUMP_TESTS_SECTION_H
#define JITDUMP_TESTS_SECTION_H

#include "input.h"
#include "jitdump.h"

enum { SECTION_SIZE_MAX = 1024 };

/* Where it is said to lie. */
#define SECTION_ADDRESS UINT64_C(0x20000)

/* Returns its size. Most of its FDEs are of the code. */
size_t make_section(unsigned char section[SECTION_SIZE_MAX], struct input *input,
                    const struct jitdump_code *code);

#endif
