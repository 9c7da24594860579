/*
 * Reserve, commit, seal; flushing is further down. Why times never decrease, in
 * docs/design.md.
 *
 * Completion is noticed by whoever comes last. The committer adds to `committed` and
 * then reads `sealed`; the sealer writes `sealed` and then reads `committed`. All four
 * are sequentially consistent, so that at least one of the two sees the other's value:
 * with weaker orders both could miss it, and the block would never be flushed.
 */
#include "../platform/c_library.h"

#include "append_buffer.h"

#include "futex.h"

#include <stddef.h>

void jd_append_buffer_init(struct append_buffer *buffer, unsigned char *memory)
{
    atomic_init(&buffer->cursor, 0);
    atomic_init(&buffer->flushed, 0);
    atomic_init(&buffer->waiters, 0);
    atomic_init(&buffer->flag, APPEND_FLAG_FREE);
    pthread_mutex_init(&buffer->oversize_lock, NULL);
    for (uint32_t i = 0; i < APPEND_BUFFER_BLOCKS; i++) {
        struct append_block *block = &buffer->blocks[i];
        atomic_init(&block->committed, 0);
        atomic_init(&block->sealed, APPEND_BLOCK_OPEN);
        block->bytes = memory + (size_t)i * buffer->block_size;
        block->oversize = NULL;
        block->oversize_count = 0;
    }
}

void jd_append_buffer_reset(struct append_buffer *buffer)
{
    /* One thread: no other side. */
    const uint32_t next =
        append_generation(atomic_load_explicit(&buffer->cursor, memory_order_relaxed)) + 1;
    jd_append_buffer_init(buffer, buffer->blocks[0].bytes);
    atomic_init(&buffer->cursor, append_cursor(next, 0));
    atomic_init(&buffer->flushed, next);
}

/* Acquire pairs with the store in flush_oldest(): the holder has read a freed block's
 * bytes and reset its counters before we use it. Later appenders in the block have
 * that from our swap of the cursor. Model: is_free. */
static uint32_t load_flushed(struct append_buffer *buffer)
{
    return atomic_load_explicit(&buffer->flushed, memory_order_acquire);
}

/* Whether the block of `generation` may be used. Signed, because `generation` may come
 * from a cursor that others have long passed; the swap then fails. */
static bool is_free(uint32_t generation, uint32_t flushed)
{
    return (int32_t)(generation - flushed) < APPEND_BUFFER_BLOCKS;
}

/* Swaps the cursor. Success releases, to the acquiring load of the next reservation, the
 * clock reading before it and what is_free() has acquired. It is sequentially consistent
 * for has_work(), which looks at the cursor after the flag is dropped, and for
 * jd_append_buffer_is_empty(), which the flusher thread asks after it has said that it sleeps:
 * the appender swaps first, and looks at the flag, or whether the thread sleeps, afterwards.
 * Failure tells nothing, and the loop loads anew. Model: cursor_is_as_loaded. */
static bool swap_cursor(struct append_buffer *buffer, uint64_t from, uint64_t to)
{
    return atomic_compare_exchange_weak_explicit(&buffer->cursor, &from, to, memory_order_seq_cst,
                                                 memory_order_relaxed);
}

/* Ends a block, after the cursor has left it. True if that made it complete. */
static bool set_sealed(struct append_buffer *buffer, uint32_t generation, uint32_t size)
{
    struct append_block *block = append_block(buffer, generation);
    /* The other side of both is in add_committed(). Model: set_sealed. */
    atomic_store_explicit(&block->sealed, size, memory_order_seq_cst);
    return atomic_load_explicit(&block->committed, memory_order_seq_cst) == size;
}

/* True if that made the block complete. */
static bool add_committed(struct append_buffer *buffer, uint32_t generation, uint32_t size)
{
    struct append_block *block = append_block(buffer, generation);
    /* The other side of both is in set_sealed(). The addition also releases the bytes to
     * the holder, which reads `committed` before it reads them. Model: add_committed. */
    const uint32_t committed =
        atomic_fetch_add_explicit(&block->committed, size, memory_order_seq_cst) + size;
    /* If the other side has noticed already, the block may be in use for a later generation
     * by now, and the comparison mean nothing: a flush too many does no harm, and one
     * too few can't be. */
    return atomic_load_explicit(&block->sealed, memory_order_seq_cst) == committed;
}

/* Where an append waits: all blocks are in use, as of `flushed`. */
static void wait_for_free_block(struct append_buffer *buffer, uint32_t flushed)
{
    jd_append_buffer_flush(buffer);
    jd_append_buffer_wait(buffer, flushed, FUTEX_FOREVER);
}

static void fill_in(const struct append_buffer *buffer, struct append_reservation *reservation,
                    uint32_t generation, uint32_t offset, uint64_t timestamp)
{
    reservation->timestamp = timestamp;
    reservation->generation = generation;
    reservation->index =
        buffer->first_index + (uint64_t)generation * buffer->block_size + offset;
}

void jd_append_buffer_reserve(struct append_buffer *buffer, uint32_t size,
                              struct append_reservation *reservation)
{
    for (;;) {
        /* Acquire pairs with swap_cursor(). Model: reserve. */
        const uint64_t cursor = atomic_load_explicit(&buffer->cursor, memory_order_acquire);
        uint32_t generation = append_generation(cursor);
        uint32_t offset = append_offset(cursor);
        const bool fits = size <= buffer->block_size - offset;
        if (!fits) {
            const uint32_t flushed = load_flushed(buffer);
            if (!is_free(generation + 1, flushed)) {
                wait_for_free_block(buffer, flushed);
                continue;
            }
        }
        /* Between the load and the swap, so that times never decrease. */
        const uint64_t timestamp = jd_clock_now(buffer->clock);
        const uint64_t next =
            fits ? append_cursor(generation, offset + size) : append_cursor(generation + 1, size);
        if (!swap_cursor(buffer, cursor, next))
            continue;

        reservation->completed_previous = false;
        if (!fits) {
            reservation->completed_previous = set_sealed(buffer, generation, offset);
            generation++;
            offset = 0;
        }
        reservation->bytes = append_block(buffer, generation)->bytes + offset;
        reservation->size = size;
        fill_in(buffer, reservation, generation, offset, timestamp);
        return;
    }
}

bool jd_append_buffer_commit(struct append_buffer *buffer,
                             const struct append_reservation *reservation)
{
    const bool completed = add_committed(buffer, reservation->generation, reservation->size);
    return completed || reservation->completed_previous;
}

void jd_append_buffer_seal(struct append_buffer *buffer)
{
    /* Both loads acquire from swap_cursor(). Model: seal. */
    const uint32_t wanted =
        append_generation(atomic_load_explicit(&buffer->cursor, memory_order_acquire));
    for (;;) {
        const uint64_t cursor = atomic_load_explicit(&buffer->cursor, memory_order_acquire);
        const uint32_t generation = append_generation(cursor);
        const uint32_t offset = append_offset(cursor);
        if (generation != wanted || offset == 0 ||
            !is_free(generation + 1, load_flushed(buffer)))
            return;
        if (swap_cursor(buffer, cursor, append_cursor(generation + 1, 0))) {
            /* Whether that completes it does not matter: who seals, flushes. */
            set_sealed(buffer, generation, offset);
            return;
        }
    }
}

/* An oversize append has a generation to itself, which no one else can reserve in: the
 * cursor steps over it. */
void jd_append_buffer_reserve_oversize(struct append_buffer *buffer,
                                       struct append_reservation *reservation)
{
    pthread_mutex_lock(&buffer->oversize_lock);
    for (;;) {
        /* Acquire pairs with swap_cursor(). Model: reserve_oversize. */
        const uint64_t cursor = atomic_load_explicit(&buffer->cursor, memory_order_acquire);
        const uint32_t generation = append_generation(cursor);
        const uint32_t flushed = load_flushed(buffer);
        if (!is_free(generation + 1, flushed)) {
            wait_for_free_block(buffer, flushed);
            continue;
        }
        if (append_offset(cursor) != 0) {
            jd_append_buffer_seal(buffer);
            continue;
        }
        const uint64_t timestamp = jd_clock_now(buffer->clock);
        if (!swap_cursor(buffer, cursor, append_cursor(generation + 1, 0)))
            continue;
        reservation->bytes = NULL;
        reservation->size = 0;
        reservation->completed_previous = false;
        fill_in(buffer, reservation, generation, 0, timestamp);
        return;
    }
}

void jd_append_buffer_commit_oversize(struct append_buffer *buffer,
                                      const struct append_reservation *reservation,
                                      const struct iovec *bytes, int count)
{
    const uint32_t generation = reservation->generation;
    struct append_block *block = append_block(buffer, generation);
    block->oversize = bytes;
    block->oversize_count = count;
    /* Sealed and committed with a size of 1, which stands for all of it. The addition
     * releases the two fields above. Model: commit_oversize. */
    set_sealed(buffer, generation, 1);
    add_committed(buffer, generation, 1);

    for (;;) {
        const uint32_t flushed = load_flushed(buffer);
        /* Even if it is written by now: the holder may have offered the flag. */
        jd_append_buffer_flush(buffer);
        if ((int32_t)(flushed - generation) > 0)
            break;
        jd_append_buffer_wait(buffer, flushed, FUTEX_FOREVER);
    }
    pthread_mutex_unlock(&buffer->oversize_lock);
}

/*
 * Flushing: handing complete blocks to the sink, and waiting for that.
 *
 * One thread at a time, the holder of the flag, does it. Others leave their blocks to it. So
 * that none is forgotten, the holder drops the flag and then looks once more, while the others
 * make their block complete and then try the flag. Both pairs are sequentially consistent:
 * whoever fails to get the flag has come before it was dropped, and so the look afterwards
 * sees its block.
 *
 * So that the holder is not kept for ever, it offers the flag after its share of writes, and goes
 * on meanwhile: whoever makes a block complete from then on finds the offer, accepts it, and
 * sleeps until the holder has ended its present write and dropped the flag. The holder then
 * leaves, with work undone perhaps: the successor tries the flag after that. Without a successor
 * the holder goes on until there is no work, and then leaves without the look: whoever has found
 * the flag held and not offered came before the offer, and so before the holder's last look.
 * A handover frees the flag. To give it to the successor would make all wait until that thread
 * has a processor.
 */

/* The share of a holder. So many writes, because no more blocks are in the buffer when it takes the
 * flag: what was complete then, its own append too, is written when it leaves. And so long, about
 * a time slice, because a handover costs a sleep and a wake-up: where writes take microseconds
 * handovers have to be rare, also for a holder that loses its processor now and then. */
#define TURN_WRITES APPEND_BUFFER_BLOCKS
#define TURN_NS 4000000

/* Of one flush. */
struct turn {
    uint32_t writes;
    uint64_t start_ns; /* the end of the second write: most flushes have one, and read no clock */
    bool offered;
};

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

static enum append_flag flag_state(uint32_t flag)
{
    return (enum append_flag)(flag % APPEND_FLAG_STATES);
}

/* Where a successor waits: until the flag is no longer as it has accepted it. */
static uint32_t wait_for_turn(struct append_buffer *buffer, uint32_t accepted)
{
    for (;;) {
        /* The store is in drop_flag(). Model: wait_for_turn. */
        const uint32_t flag = atomic_load_explicit(&buffer->flag, memory_order_seq_cst);
        if (flag != accepted)
            return flag;
        futex_wait(&buffer->flag, accepted, FUTEX_FOREVER);
    }
}

/* True: the calling thread is the holder now. False: there is one, who looks once more or has a
 * successor. */
static bool take_flag(struct append_buffer *buffer, bool in_turn)
{
    /* All pair with drop_flag(): a holder acquires what the one before it has done, and that
     * looks after its drop, or its offer, for what was complete before this load or a failed
     * swap. Model: take_flag. */
    uint32_t flag = atomic_load_explicit(&buffer->flag, memory_order_seq_cst);
    for (;;) {
        if (flag_state(flag) == APPEND_FLAG_FREE) {
            if (atomic_compare_exchange_weak_explicit(&buffer->flag, &flag, flag + 1,
                                                      memory_order_seq_cst, memory_order_seq_cst))
                return true;
        } else if (flag_state(flag) == APPEND_FLAG_OFFERED && in_turn) {
            if (atomic_compare_exchange_weak_explicit(&buffer->flag, &flag, flag + 1,
                                                      memory_order_seq_cst,
                                                      memory_order_seq_cst)) {
                flag = wait_for_turn(buffer, flag + 1);
                in_turn = false; /* waits once, whoever has been faster now */
            }
        } else {
            return false;
        }
    }
}

/* Only for the holder. False if there was a successor: it sees to what is left. */
static bool drop_flag(struct append_buffer *buffer)
{
    /* While it is held only an acceptance changes it. The other side of these is in take_flag()
     * and wait_for_turn(). Model: drop_flag. */
    uint32_t flag = atomic_load_explicit(&buffer->flag, memory_order_relaxed);
    if (flag_state(flag) != APPEND_FLAG_ACCEPTED &&
        atomic_compare_exchange_strong_explicit(&buffer->flag, &flag, flag - flag_state(flag),
                                                memory_order_seq_cst, memory_order_relaxed))
        return true;
    atomic_store_explicit(&buffer->flag, flag + 1, memory_order_seq_cst);
    futex_wake(&buffer->flag);
    return false;
}

/* After each write of the holder. True if it is to leave: there is a successor. */
static bool end_write(struct append_buffer *buffer, struct turn *turn)
{
    /* The other side of both accesses is in take_flag(). Model: end_write. */
    if (turn->offered)
        return flag_state(atomic_load_explicit(&buffer->flag, memory_order_seq_cst)) ==
               APPEND_FLAG_ACCEPTED;
    turn->writes++;
    if (turn->writes == 2)
        turn->start_ns = jd_clock_now(JITDUMP_CLOCK_MONOTONIC);
    if (turn->writes < TURN_WRITES ||
        jd_clock_now(JITDUMP_CLOCK_MONOTONIC) - turn->start_ns < TURN_NS)
        return false;
    atomic_fetch_add_explicit(&buffer->flag, 1, memory_order_seq_cst);
    turn->offered = true;
    return false;
}

/* The holder's work, until there is none, or there is a successor. */
static void flush_as_holder(struct append_buffer *buffer, struct turn *turn)
{
    for (;;) {
        /* Only the holder changes it. */
        const uint32_t generation = atomic_load_explicit(&buffer->flushed, memory_order_relaxed);
        if (!jd_append_buffer_has_complete(buffer)) {
            if (!buffer->eager || !seal_if_current(buffer, generation))
                return;
            continue;
        }
        flush_oldest(buffer, generation);
        if (end_write(buffer, turn))
            return;
    }
}

static void flush(struct append_buffer *buffer, bool in_turn)
{
    struct turn turn = {.offered = false};
    while (take_flag(buffer, in_turn)) {
        flush_as_holder(buffer, &turn);
        if (!drop_flag(buffer) || turn.offered || !has_work(buffer))
            return;
        in_turn = false; /* it has had its turn */
    }
}

void jd_append_buffer_flush(struct append_buffer *buffer)
{
    flush(buffer, true);
}

void jd_append_buffer_try_flush(struct append_buffer *buffer)
{
    flush(buffer, false);
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
            /* What it can't flush may be left behind: it looks again. */
            if (left_ns > timeout_ns / 64)
                left_ns = timeout_ns / 64;
        }
        if (append_generation(atomic_load_explicit(&buffer->cursor, memory_order_acquire)) + 1 ==
            target)
            jd_append_buffer_seal(buffer);
        if (timeout_ns == FUTEX_FOREVER)
            jd_append_buffer_flush(buffer);
        else
            jd_append_buffer_try_flush(buffer);
        jd_append_buffer_wait(buffer, seen, left_ns);
    }
}
