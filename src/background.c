/*
 * An idle process is not woken: the thread sleeps without a limit while the buffer is
 * empty. The append that ends this calls it; from then on it lets bytes gather for an
 * interval, or until a block is complete, and flushes.
 */
#define _GNU_SOURCE
#include "background.h"

#include "futex.h"

#include <signal.h>

static bool is_stopping(struct background *background)
{
    /* The store is in jd_background_stop(), which then calls. */
    return atomic_load_explicit(&background->stopping, memory_order_seq_cst) != 0;
}

static void sleep_while_empty(struct background *background)
{
    const uint32_t seen = atomic_load_explicit(&background->calls, memory_order_seq_cst);
    /* Says that it is idle and then looks; jd_background_call() comes after an append and
     * then looks whether it is idle. Both sequentially consistent: one sees the other.
     * Model: sleep_while_empty. */
    atomic_store_explicit(&background->idle, 1, memory_order_seq_cst);
    if (jd_append_buffer_is_empty(background->buffer) && !is_stopping(background))
        futex_wait(&background->calls, seen, FUTEX_FOREVER);
    atomic_store_explicit(&background->idle, 0, memory_order_seq_cst);
}

static void *flush_until_stopped(void *argument)
{
    struct background *background = argument;
    while (!is_stopping(background)) {
        sleep_while_empty(background);
        /* Before the look, so that a call in between ends the sleep: call() adds after the
         * block is complete. Model: flusher. */
        const uint32_t seen = atomic_load_explicit(&background->calls, memory_order_seq_cst);
        if (!jd_append_buffer_has_complete(background->buffer) && !is_stopping(background))
            futex_wait(&background->calls, seen, background->interval_ns);
        /* Waits for no append that is under way: it would sleep where the call of the one
         * that completes the sealed block does not reach it. */
        jd_append_buffer_seal(background->buffer);
        jd_append_buffer_flush(background->buffer);
    }
    return NULL;
}

int jd_background_start(struct background *background, struct append_buffer *buffer,
                        uint64_t interval_ns)
{
    background->buffer = buffer;
    background->interval_ns = interval_ns;
    atomic_init(&background->calls, 0);
    atomic_init(&background->idle, 0);
    atomic_init(&background->stopping, 0);

    /* A thread inherits the mask of its maker. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    background->running =
        pthread_create(&background->thread, NULL, flush_until_stopped, background) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!background->running)
        return JITDUMP_ERROR_THREAD;
    pthread_setname_np(background->thread, "jitdump");
    return 0;
}

static void call(struct background *background)
{
    /* The loads are the flusher's. Model: call. */
    atomic_fetch_add_explicit(&background->calls, 1, memory_order_seq_cst);
    futex_wake(&background->calls);
}

void jd_background_call(struct background *background, bool completed)
{
    /* The other side is in sleep_while_empty(). The exchange lets one of many appenders
     * make the system call. Model: jd_background_call. */
    if (completed ||
        (atomic_load_explicit(&background->idle, memory_order_seq_cst) != 0 &&
         atomic_exchange_explicit(&background->idle, 0, memory_order_seq_cst) != 0))
        call(background);
    /* Nobody to call: at exit, while other threads still append. */
    if (completed && is_stopping(background))
        jd_append_buffer_flush(background->buffer);
}

void jd_background_stop(struct background *background)
{
    if (!background->running)
        return;
    atomic_store_explicit(&background->stopping, 1, memory_order_seq_cst);
    call(background);
    pthread_join(background->thread, NULL);
    background->running = false;
}

void jd_background_forget(struct background *background)
{
    background->running = false;
}
