#include "../platform/c_library.h"

#include "append.h"

#include "../encode/record.h"
#include "../system/thread_id.h"

#include <assert.h>
#include <stdlib.h>

/* With a size limit: counts the group in, or ends the dump. JIT_CODE_CLOSE has its place
 * kept. */
static int accept_size(struct jitdump *dump, uint64_t size)
{
    const uint64_t limit = dump->size_limit - sizeof(struct jit_code_close);
    /* A count: nothing is published with it, so all accesses to it are relaxed. */
    uint64_t accepted = atomic_load_explicit(&dump->accepted, memory_order_relaxed);
    do {
        if (size > limit - accepted) {
            /* Not over an error of the file, which says more. The loads are those of
             * load_status(). */
            int open = STATUS_OPEN;
            atomic_compare_exchange_strong(dump->status, &open, JITDUMP_ERROR_SIZE_LIMIT);
            return JITDUMP_ERROR_SIZE_LIMIT;
        }
    } while (!atomic_compare_exchange_weak_explicit(&dump->accepted, &accepted, accepted + size,
                                                    memory_order_relaxed, memory_order_relaxed));
    return 0;
}

static void encode_head(const struct jitdump *dump, const struct group *group,
                        const struct append_reservation *reservation, unsigned char *to)
{
    const struct record_stamp stamp = {reservation->timestamp, reservation->index, dump->pid,
                                       jd_process_thread_id(), dump->elf_mach};
    const unsigned char *end = group->encode(to, &stamp, group->input);
    assert(end == to + group->head_size);
    (void)end;
}

/* More than a block takes: written from where it lies. */
static int append_oversize(struct jitdump *dump, const struct group *group, uint64_t *index)
{
    const struct process_shield shield = jd_process_shield();
    unsigned char *head = group->head;
    if (head == NULL && group->head_size <= SIZE_MAX)
        head = malloc((size_t)group->head_size);
    jd_process_unshield(shield);
    if (head == NULL) {
        if (dump->size_limit != 0)
            atomic_fetch_sub_explicit(&dump->accepted, group->head_size + group->tail_size,
                                      memory_order_relaxed);
        return JITDUMP_ERROR_NO_MEMORY;
    }
    struct append_reservation reservation;
    jd_append_buffer_reserve_oversize(&dump->buffer, &reservation);
    encode_head(dump, group, &reservation, head);
    const struct iovec bytes[2] = {{head, (size_t)group->head_size},
                                   {(void *)(uintptr_t)group->tail, (size_t)group->tail_size}};
    jd_append_buffer_commit_oversize(&dump->buffer, &reservation, bytes,
                                     group->tail_size != 0 ? 2 : 1);
    if (group->head == NULL)
        free(head);
    *index = reservation.index;
    return flush_error(dump);
}

/* What the flush mode does after each append. */
static int after_append(struct jitdump *dump, uint64_t timestamp, bool completed)
{
    switch (dump->flush_mode) {
    case JITDUMP_FLUSH_WRITE_THROUGH:
        jd_append_buffer_flush(&dump->buffer);
        break;
    case JITDUMP_FLUSH_BUFFERED: {
        /* Signed: another append with a later time may have been faster. The swap lets one
         * of many flush; nothing is published with it, hence relaxed. */
        uint64_t last = atomic_load_explicit(&dump->last_flush, memory_order_relaxed);
        const bool due = (int64_t)(timestamp - last) >= (int64_t)dump->flush_interval &&
                         atomic_compare_exchange_strong_explicit(&dump->last_flush, &last,
                                                                 timestamp, memory_order_relaxed,
                                                                 memory_order_relaxed);
        if (due)
            jd_append_buffer_seal(&dump->buffer);
        if (due || completed)
            jd_append_buffer_flush(&dump->buffer);
        break;
    }
    case JITDUMP_FLUSH_BACKGROUND:
        jd_background_call(&dump->background, completed);
        break;
    }
    return flush_error(dump);
}

/* A group that fits into a block. True if the append left a complete block behind. */
static inline bool append_to_block(struct jitdump *dump, const struct group *group,
                                   struct append_reservation *reservation)
{
    jd_append_buffer_reserve(&dump->buffer, (uint32_t)(group->head_size + group->tail_size),
                             reservation);
    encode_head(dump, group, reservation, reservation->bytes);
    if (group->tail_size != 0)
        put(reservation->bytes + group->head_size, group->tail, (size_t)group->tail_size);
    return jd_append_buffer_commit(&dump->buffer, reservation);
}

int jd_append_group(struct jitdump *dump, const struct group *group, uint64_t *index)
{
    const uint64_t size = group->head_size + group->tail_size;
    const int error = dump->size_limit != 0 ? accept_size(dump, size) : 0;
    if (error != 0)
        return error;
    if (size > dump->buffer.block_size)
        return append_oversize(dump, group, index);

    struct append_reservation reservation;
    const bool completed = append_to_block(dump, group, &reservation);
    *index = reservation.index;
    return after_append(dump, reservation.timestamp, completed);
}

void jd_append_close(struct jitdump *dump)
{
    const struct group group = {.encode = jd_record_close_write,
                                .head_size = sizeof(struct jit_code_close)};
    struct append_reservation reservation;
    append_to_block(dump, &group, &reservation);
}
