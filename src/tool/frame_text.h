/*
 * Call frame information as text, in the manner of readelf --debug-dump=frames-interp.
 */
#ifndef JITDUMP_TOOL_FRAME_TEXT_H
#define JITDUMP_TOOL_FRAME_TEXT_H

#include "reader/frame_rows.h"

enum { FRAME_TEXT_SIZE = 64 };

/* "rbp", or "r17" where the machine's registers have no names here. */
void frame_register_text(char text[FRAME_TEXT_SIZE], uint32_t elf_mach, uint64_t reg);

/* "rsp+8", or "exp", what an expression says. */
void frame_cfa_text(char text[FRAME_TEXT_SIZE], uint32_t elf_mach, const struct frame_rule *cfa);

/* Where the caller's value is: "c-16" (saved at CFA - 16), "rbx" (in that register), "s" (still in its
 * own), "u" (lost), "exp" (saved where an expression says); or what it is: "v-16" (CFA - 16), "vexp" (what
 * an expression says). */
void frame_rule_text(char text[FRAME_TEXT_SIZE], uint32_t elf_mach, const struct frame_rule *rule);

#endif
