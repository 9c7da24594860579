/*
 * Which thread is this?
 */
#ifndef JITDUMP_THREAD_ID_H
#define JITDUMP_THREAD_ID_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The calling thread's id, as gettid(2) has it, or the low half of macOS's; without the system call. */
uint32_t jd_process_thread_id(void);

#pragma GCC visibility pop

#endif
