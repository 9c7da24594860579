/*
 * Reserve, commit, seal. Flushing is in append_flush.c; why times never decrease, in
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
        if ((int32_t)(flushed - generation) > 0)
            break;
        jd_append_buffer_flush(buffer);
        jd_append_buffer_wait(buffer, flushed, FUTEX_FOREVER);
    }
    pthread_mutex_unlock(&buffer->oversize_lock);
}
