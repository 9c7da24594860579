/*
 * An idle process is not woken: the thread sleeps without a limit while the buffer is
 * empty. The append that ends this calls it; from then on it lets bytes gather for an
 * interval, or until a block is complete, and flushes.
 *
 * A call costs the appender a system call only if the thread has lain down.
 */
#include "../platform/c_library.h"

#include "background.h"

#include "futex.h"

#include <sched.h>
#include <signal.h>

/* How long the thread stays awake for the next block: about as long as a wake-up costs the
 * appender. Longer than it takes to fill a block with small functions. */
#define WATCH_NS 50000

static bool is_stopping(struct background *background)
{
    /* The store is in jd_background_stop(), which then calls. */
    return atomic_load_explicit(&background->stopping, memory_order_seq_cst) != 0;
}

static bool has_cause(struct background *background, enum background_sleep sleep)
{
    return is_stopping(background) ||
           (sleep == BACKGROUND_UNTIL_APPEND ? !jd_append_buffer_is_empty(background->buffer)
                                             : jd_append_buffer_has_complete(background->buffer));
}

static void sleep_until(struct background *background, enum background_sleep sleep,
                        uint64_t timeout_ns)
{
    /* Before the look, so that a call in between ends the sleep. */
    const uint32_t seen = atomic_load_explicit(&background->calls, memory_order_seq_cst);
    /* Says that it sleeps and then looks; jd_background_call() comes after an append and then
     * looks whether it sleeps. Both sequentially consistent: one sees the other.
     * Model: sleep_until. */
    atomic_store_explicit(&background->sleep, sleep, memory_order_seq_cst);
    if (!has_cause(background, sleep))
        futex_wait(&background->calls, seen, timeout_ns);
    atomic_store_explicit(&background->sleep, BACKGROUND_AWAKE, memory_order_seq_cst);
}

/* Watches `calls`, which changes once per block, rather than the block, whose counter every
 * append would have to take back from this thread's processor. Misses nothing that matters:
 * sleep_until() looks again. */
static void watch(struct background *background)
{
    /* The additions are in jd_background_call() and call(). */
    const uint32_t seen = atomic_load_explicit(&background->calls, memory_order_seq_cst);
    if (has_cause(background, BACKGROUND_UNTIL_COMPLETE))
        return;
    const uint64_t end = jd_clock_now(JITDUMP_CLOCK_MONOTONIC) + WATCH_NS;
    while (atomic_load_explicit(&background->calls, memory_order_relaxed) == seen &&
           jd_clock_now(JITDUMP_CLOCK_MONOTONIC) < end)
        sched_yield();
}

static void *flush_until_stopped(void *argument)
{
    struct background *background = argument;
    /* By the thread itself it is one system call, and opens no file. */
#if defined(__APPLE__)
    pthread_setname_np("jitdump");
#else
    pthread_setname_np(pthread_self(), "jitdump");
#endif
    while (!is_stopping(background)) {
        sleep_until(background, BACKGROUND_UNTIL_APPEND, FUTEX_FOREVER);
        watch(background);
        sleep_until(background, BACKGROUND_UNTIL_COMPLETE, background->interval_ns);
        /* Waits for no append that is under way: it would sleep where the call of the one
         * that completes the sealed block does not reach it. */
        jd_append_buffer_seal(background->buffer);
        /* Nor for a holder: an exit in its thread's signal handler would join this one for ever.
         * While a block is complete it goes round, and so looks again. */
        jd_append_buffer_try_flush(background->buffer);
    }
    return NULL;
}

int jd_background_start(struct background *background, struct append_buffer *buffer,
                        uint64_t interval_ns)
{
    background->buffer = buffer;
    background->interval_ns = interval_ns;
    atomic_init(&background->calls, 0);
    atomic_init(&background->sleep, BACKGROUND_AWAKE);
    atomic_init(&background->stopping, 0);

    /* A thread inherits the mask of its maker. */
    sigset_t all, before;
    sigfillset(&all);
    const bool blocked = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    background->running =
        pthread_create(&background->thread, NULL, flush_until_stopped, background) == 0;
    if (blocked)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!background->running)
        return JITDUMP_ERROR_THREAD;
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
    /* The load is in watch(). */
    if (completed)
        atomic_fetch_add_explicit(&background->calls, 1, memory_order_seq_cst);
    /* The other side is in sleep_until(). The exchange lets one of many appenders make the
     * system call. Model: jd_background_call. */
    const uint32_t ends = completed ? BACKGROUND_UNTIL_COMPLETE : BACKGROUND_UNTIL_APPEND;
    if (atomic_load_explicit(&background->sleep, memory_order_seq_cst) >= ends &&
        atomic_exchange_explicit(&background->sleep, BACKGROUND_AWAKE, memory_order_seq_cst) !=
            BACKGROUND_AWAKE)
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
