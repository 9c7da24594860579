/*
 * From patched code into C and back, with all registers as they were: compilers know of an empty function
 * that it changes none (GCC's -fipa-ra), and keep values in those that a call may usually change.
 */
#ifndef JITDUMP_COLLECTOR_CODE_ENTER_H
#define JITDUMP_COLLECTOR_CODE_ENTER_H

#include <stdbool.h>

/* To be jumped to: the registers that code_patch.c needs for that are on the stack. */
void jd_code_enter(void);

/* To be called before. False: the processor can't save all. */
bool jd_code_enter_prepare(void);

#endif
