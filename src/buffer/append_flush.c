/*
 * Handing complete blocks to the sink, and waiting for that.
 *
 * One thread at a time, the holder of `flushing`, does it. Others never wait for the
 * holder: they leave their blocks to it. So that none is forgotten, the holder drops the
 * flag and then looks once more, while the others make their block complete and then
 * try the flag. Both pairs are sequentially consistent: whoever fails to get the flag
 * has come before it was dropped, and so the look afterwards sees its block.
 */
#include "../platform/c_library.h"

#include "append_buffer.h"

#include "futex.h"

#include <stddef.h>

/* Seals the block of `generation` if the cursor is still in it, so that it can be flushed
 * although it is not full. */
static bool seal_if_current(struct append_buffer *buffer, uint32_t generation)
{
    /* Loads what swap_cursor() has stored. If it misses a newer value, that swap's append has
     * still to try the flag. Model: flush. */
    const uint64_t cursor = atomic_load_explicit(&buffer->cursor, memory_order_seq_cst);
    if (append_generation(cursor) != generation || append_offset(cursor) == 0)
        return false;
    jd_append_buffer_seal(buffer);
    return true;
}

/* Of a block that is recycled meanwhile it may say anything: then someone else is, or has been,
 * the holder, and looks too. */
bool jd_append_buffer_has_complete(struct append_buffer *buffer)
{
    /* The stores: flush_oldest(), set_sealed(), add_committed(), whose bytes the last load
     * acquires. Model: has_complete, and holder_has_complete. */
    const uint32_t generation = atomic_load_explicit(&buffer->flushed, memory_order_seq_cst);
    struct append_block *block = append_block(buffer, generation);
    const uint32_t sealed = atomic_load_explicit(&block->sealed, memory_order_seq_cst);
    return sealed != APPEND_BLOCK_OPEN &&
           atomic_load_explicit(&block->committed, memory_order_seq_cst) == sealed;
}

bool jd_append_buffer_is_empty(struct append_buffer *buffer)
{
    /* The stores: swap_cursor() and flush_oldest(). Model: sleep_until. */
    const uint64_t cursor = atomic_load_explicit(&buffer->cursor, memory_order_seq_cst);
    const uint32_t flushed = atomic_load_explicit(&buffer->flushed, memory_order_seq_cst);
    return cursor == append_cursor(flushed, 0);
}

/* What the holder looks for after it has dropped the flag. */
static bool has_work(struct append_buffer *buffer)
{
    if (jd_append_buffer_has_complete(buffer))
        return true;
    if (!buffer->eager)
        return false;
    /* The stores: swap_cursor() and flush_oldest(). Model: has_work. */
    const uint64_t cursor = atomic_load_explicit(&buffer->cursor, memory_order_seq_cst);
    return append_generation(cursor) ==
               atomic_load_explicit(&buffer->flushed, memory_order_seq_cst) &&
           append_offset(cursor) != 0;
}

/* Only for the holder: the one who changes `flushed`. */
static void flush_oldest(struct append_buffer *buffer, uint32_t generation)
{
    struct append_block *block = append_block(buffer, generation);
    /* The bytes, and `sealed`, were acquired with `committed` in jd_append_buffer_has_complete().
     * Model: sink. */
    const uint32_t sealed = atomic_load_explicit(&block->sealed, memory_order_relaxed);
    if (block->oversize != NULL) {
        buffer->sink(buffer->sink_context, block->oversize, block->oversize_count);
        block->oversize = NULL;
    } else {
        const struct iovec bytes = {block->bytes, sealed};
        buffer->sink(buffer->sink_context, &bytes, 1);
    }
    /* Released by the next store. Model: recycle. */
    atomic_store_explicit(&block->committed, 0, memory_order_relaxed);
    atomic_store_explicit(&block->sealed, APPEND_BLOCK_OPEN, memory_order_relaxed);
    /* Releases the freed block to is_free() in append_buffer.c. Sequentially consistent, as
     * is the load: with jd_append_buffer_wait(), which counts itself and then looks at
     * `flushed`. Either it sees the new value, or we see it. Model: flush_oldest. */
    atomic_store_explicit(&buffer->flushed, generation + 1, memory_order_seq_cst);
    if (atomic_load_explicit(&buffer->waiters, memory_order_seq_cst) != 0)
        futex_wake(&buffer->flushed);
}

void jd_append_buffer_flush(struct append_buffer *buffer)
{
    do {
        /* Pairs with the store that drops the flag below: a holder acquires what the one before
         * it has done, and that looks after its store for what was complete before this
         * exchange. Model: flush. */
        if (atomic_exchange_explicit(&buffer->flushing, 1, memory_order_seq_cst) != 0)
            return; /* its holder looks once more */
        for (;;) {
            /* Only the holder changes it. */
            const uint32_t generation =
                atomic_load_explicit(&buffer->flushed, memory_order_relaxed);
            if (jd_append_buffer_has_complete(buffer))
                flush_oldest(buffer, generation);
            else if (!buffer->eager || !seal_if_current(buffer, generation))
                break;
        }
        atomic_store_explicit(&buffer->flushing, 0, memory_order_seq_cst);
    } while (has_work(buffer));
}

void jd_append_buffer_wait(struct append_buffer *buffer, uint32_t seen, uint64_t timeout_ns)
{
    /* The other side of both is in flush_oldest(); the kernel compares once more, in one step
     * with lying down. Counting out needs no order: too high a count wakes nobody in vain
     * more than once. Model: wait. */
    atomic_fetch_add_explicit(&buffer->waiters, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&buffer->flushed, memory_order_seq_cst) == seen)
        futex_wait(&buffer->flushed, seen, timeout_ns);
    atomic_fetch_sub_explicit(&buffer->waiters, 1, memory_order_relaxed);
}

bool jd_append_buffer_flush_all(struct append_buffer *buffer, uint64_t timeout_ns)
{
    /* The stores: swap_cursor() and, for the loads of `flushed`, flush_oldest().
     * Model: flush_all. */
    const uint64_t cursor = atomic_load_explicit(&buffer->cursor, memory_order_seq_cst);
    const uint32_t target = append_generation(cursor) + (append_offset(cursor) != 0);
    uint32_t last_seen = target;
    uint64_t progress_ns = 0;
    for (;;) {
        const uint32_t seen = atomic_load_explicit(&buffer->flushed, memory_order_acquire);
        if ((int32_t)(seen - target) >= 0)
            return true;
        uint64_t left_ns = timeout_ns;
        if (timeout_ns != FUTEX_FOREVER) {
            const uint64_t now_ns = jd_clock_now(JITDUMP_CLOCK_MONOTONIC);
            if (seen != last_seen)
                progress_ns = now_ns;
            last_seen = seen;
            if (now_ns - progress_ns >= timeout_ns)
                return false;
            left_ns = timeout_ns - (now_ns - progress_ns); /* a signal may end the sleep early */
        }
        if (append_generation(atomic_load_explicit(&buffer->cursor, memory_order_acquire)) + 1 ==
            target)
            jd_append_buffer_seal(buffer);
        jd_append_buffer_flush(buffer);
        jd_append_buffer_wait(buffer, seen, left_ns);
    }
}
