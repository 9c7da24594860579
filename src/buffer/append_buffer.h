/*
 * The append buffer: many threads append, the file receives their bytes in one order.
 *
 * It knows bytes, nothing of records. Blocks hold file bytes exactly as they will be
 * written: no framing, no padding.
 *
 * Words used for the same things throughout:
 *   reserve    take the next `size` bytes of the order
 *   commit     say that a reservation's bytes are all there
 *   seal       end a block: no further reservation goes into it
 *   complete   sealed, and all that was reserved in it is committed
 *   flush      hand complete blocks to the sink, in order, and free them
 *   holder     the thread that flushes: it holds the flag
 *   generation number of a block in file order, from 0; its memory is that of
 *              block (generation % APPEND_BUFFER_BLOCKS)
 *
 * Timestamps never decrease in file order, because the clock is read between the load of the
 * cursor and its compare-and-swap: docs/design.md has the argument whole.
 *
 * tests/model/append_buffer.pml goes through all interleavings. "Model: name" beside an
 * atomic access is the step of that name there; the access on the other side is named too.
 */
#ifndef JITDUMP_APPEND_BUFFER_H
#define JITDUMP_APPEND_BUFFER_H

#include "clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#pragma GCC visibility push(hidden)

/* The cursor is one word. Where no instruction swaps 64 bits, the compiler would call a function
 * of another library for it, which takes a lock. */
#ifndef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_8
#error "libjitdump needs 64-bit compare-and-swap. On i386: -march=i586 or later; on arm: ARMv7."
#endif

/* Four: one that is filled, one that is written, one between them for a thread that is
 * interrupted in the middle of its copy, and one for an oversize append. */
#define APPEND_BUFFER_BLOCKS 4

/* The smallest distance at which two processors don't disturb each other's writes. */
#define CACHE_LINE 64

struct append_block {
    /* Bytes committed to the block's present generation. */
    _Alignas(CACHE_LINE) _Atomic uint32_t committed;
    /* Its size once it is sealed; APPEND_BLOCK_OPEN before. */
    _Atomic uint32_t sealed;
    unsigned char *bytes;
    /* Of an oversize generation: the bytes, in the appender's memory; else NULL. */
    const struct iovec *oversize;
    int oversize_count;
};

/* The states of the flag of those who flush. Each is one more than the one before, and a handover,
 * which frees the flag, is too: so the word's upper bits count handovers, and a successor that
 * sleeps knows its own by them. */
enum append_flag {
    APPEND_FLAG_FREE = 0,
    APPEND_FLAG_HELD = 1,
    /* Held, and offered: the holder has done its share, and goes on until another is there. */
    APPEND_FLAG_OFFERED = 2,
    /* Held, and another thread, the successor, waits for the end of the holder's present write. */
    APPEND_FLAG_ACCEPTED = 3,
    APPEND_FLAG_STATES = 4
};

struct append_buffer {
    /* generation << 32 | offset of the next reservation. 2^32 generations are never
     * used up: each is a write to the file. */
    _Alignas(CACHE_LINE) _Atomic uint64_t cursor;

    /* How many generations have been flushed: the oldest that is not. Blocks of
     * flushed ... flushed + APPEND_BUFFER_BLOCKS - 1 may be in use. Also the futex
     * word of those who wait for blocks to be freed. */
    _Alignas(CACHE_LINE) _Atomic uint32_t flushed;
    _Atomic uint32_t waiters;
    /* enum append_flag and handovers. Also the futex word of a successor. */
    _Atomic uint32_t flag;

    /* From an oversize append's reservation to its end. Each waits for its bytes to be written
     * anyway; but a mutex goes to whoever runs, where the order of reservations would make the
     * threads sleep and wake in turn, for each append. */
    pthread_mutex_t oversize_lock;

    _Alignas(CACHE_LINE) uint32_t block_size;
    enum jitdump_clock clock;
    /* The index of the first reservation. */
    uint64_t first_index;
    /* Eager: a flush seals the block being filled as soon as the file has caught up
     * with it, and so leaves nothing behind. */
    bool eager;
    /* Takes the bytes; it deals with its errors itself. Called by one thread at a
     * time, the holder, with no lock held that an appender could wait for. */
    void (*sink)(void *context, const struct iovec *bytes, int count);
    void *sink_context;

    struct append_block blocks[APPEND_BUFFER_BLOCKS];
};

struct append_reservation {
    /* Where to write the bytes; NULL for an oversize reservation. */
    unsigned char *bytes;
    /* The clock's reading that belongs to this place in the order. Not beside `index`: who
     * passes both on, as record_stamp does, would read the two as one piece, for which a
     * processor waits until both stores are through. */
    uint64_t timestamp;
    uint32_t generation;
    uint32_t size;
    /* Ascending in file order, never the same for two reservations. */
    uint64_t index;
    /* The reservation sealed the block before its own, and that was complete by then. */
    bool completed_previous;
};

/* `memory` has APPEND_BUFFER_BLOCKS * block_size bytes and outlives the buffer. The
 * caller has set block_size, clock, first_index, eager, sink and sink_context. */
void jd_append_buffer_init(struct append_buffer *buffer, unsigned char *memory);

/* Forgets all that is not flushed, and everything about threads: for the only thread of
 * a forked child. Indices go on ascending. */
void jd_append_buffer_reset(struct append_buffer *buffer);

/* Reserves 1 to block_size bytes. Waits while the buffer is full, flushing as it can. */
void jd_append_buffer_reserve(struct append_buffer *buffer, uint32_t size,
                              struct append_reservation *reservation);

/* To be called once for each reservation, when its bytes are there. True if there may
 * now be a complete block that nobody is about to flush: the caller sees to it. */
bool jd_append_buffer_commit(struct append_buffer *buffer,
                             const struct append_reservation *reservation);

/* The same two for bytes that need not fit into a block. The commit returns when the
 * bytes have been handed to the sink from where they lie. Until then no other thread's
 * reservation of this kind returns. */
void jd_append_buffer_reserve_oversize(struct append_buffer *buffer,
                                       struct append_reservation *reservation);
void jd_append_buffer_commit_oversize(struct append_buffer *buffer,
                                      const struct append_reservation *reservation,
                                      const struct iovec *bytes, int count);

/* Seals the block that is being filled, if anything is in it and the next is free. */
void jd_append_buffer_seal(struct append_buffer *buffer);

/* Flushes the complete blocks, or leaves that to the holder. If that has done its share, waits for
 * the end of its present write and goes on in its place. */
void jd_append_buffer_flush(struct append_buffer *buffer);

/* The same, but never waits; async-signal-safe if the sink is. What it leaves to the holder may
 * be left behind until the next flush. */
void jd_append_buffer_try_flush(struct append_buffer *buffer);

/* Returns when all that was reserved before the call is flushed, or after `timeout_ns`
 * without any progress (FUTEX_FOREVER: never). True in the first case. */
bool jd_append_buffer_flush_all(struct append_buffer *buffer, uint64_t timeout_ns);

/* Nothing is reserved that is not flushed. */
bool jd_append_buffer_is_empty(struct append_buffer *buffer);

/* The oldest generation that is not flushed is complete. */
bool jd_append_buffer_has_complete(struct append_buffer *buffer);

/* Sleeps until `flushed` is no longer `seen`, at most `timeout_ns`. */
void jd_append_buffer_wait(struct append_buffer *buffer, uint32_t seen, uint64_t timeout_ns);

/* The parts of the cursor, for the tests too. */
#define APPEND_BLOCK_OPEN UINT32_MAX

static inline uint64_t append_cursor(uint32_t generation, uint32_t offset)
{
    return (uint64_t)generation << 32 | offset;
}

static inline uint32_t append_generation(uint64_t cursor)
{
    return (uint32_t)(cursor >> 32);
}

static inline uint32_t append_offset(uint64_t cursor)
{
    return (uint32_t)cursor;
}

static inline struct append_block *append_block(struct append_buffer *buffer, uint32_t generation)
{
    return &buffer->blocks[generation % APPEND_BUFFER_BLOCKS];
}

#pragma GCC visibility pop

#endif
