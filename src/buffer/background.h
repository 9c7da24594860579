/*
 * The flusher thread of JITDUMP_FLUSH_BACKGROUND.
 */
#ifndef JITDUMP_BACKGROUND_H
#define JITDUMP_BACKGROUND_H

#include "append_buffer.h"

#include <pthread.h>

#pragma GCC visibility push(hidden)

enum background_sleep {
    BACKGROUND_AWAKE = 0,
    /* It has found no complete block, and sleeps an interval at most. */
    BACKGROUND_UNTIL_COMPLETE = 1,
    /* It has found the buffer empty, and sleeps without a limit. */
    BACKGROUND_UNTIL_APPEND = 2
};

struct background {
    struct append_buffer *buffer;
    uint64_t interval_ns;
    /* These two with jd_process_lock() held: closing and exiting stop the thread, and one of them
     * may join it. */
    pthread_t thread;
    bool running;
    /* Counts complete blocks, and calls for the thread: the futex word that it sleeps on. */
    _Alignas(CACHE_LINE) _Atomic uint32_t calls;
    /* What it sleeps until: enum background_sleep. What ends the first ends the second. */
    _Atomic uint32_t sleep;
    _Atomic uint32_t stopping;
};

/* Starts the thread, with all signals blocked. 0 or JITDUMP_ERROR_THREAD. */
int jd_background_start(struct background *background, struct append_buffer *buffer,
                        uint64_t interval_ns);

/* After each append. `completed`: a block is complete. */
void jd_background_call(struct background *background, bool completed);

/* Ends the thread and waits for it, if it runs. */
void jd_background_stop(struct background *background);

/* In the child of a fork, where the thread is not. */
void jd_background_forget(struct background *background);

#pragma GCC visibility pop

#endif
