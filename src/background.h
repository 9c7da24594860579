/*
 * The flusher thread of JITDUMP_FLUSH_BACKGROUND.
 */
#ifndef JITDUMP_BACKGROUND_H
#define JITDUMP_BACKGROUND_H

#include "append_buffer.h"

#include <pthread.h>

struct background {
    struct append_buffer *buffer;
    uint64_t interval_ns;
    pthread_t thread;
    bool running;
    /* Counts the calls for the thread: the futex word that it sleeps on. */
    _Alignas(CACHE_LINE) _Atomic uint32_t calls;
    /* 1 while the thread has found the buffer empty and sleeps without a limit. */
    _Atomic uint32_t idle;
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

#endif
