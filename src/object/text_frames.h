/*
 * .eh_frame as PHP and LuaJIT make it for GDB: in the object alone, at no address, and what it says of code
 * counts from the start of .text, an encoding that unwinders don't take.
 */
#ifndef JITDUMP_OBJECT_TEXT_FRAMES_H
#define JITDUMP_OBJECT_TEXT_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Rewrites the section so that its code addresses are pc-relative, if it lay where .text does. False: it is of
 * another kind, and may be changed in part. */
bool jd_text_frames_to_relative(unsigned char *section, uint64_t size);

#endif
