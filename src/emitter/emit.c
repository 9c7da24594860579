/*
 * Appending records.
 *
 * Data flows one way: the caller's struct -> the encoder says the exact size -> one
 * reservation in the buffer -> the encoder writes into it -> the file.
 */
#include "../platform/c_library.h"

#include "handle.h"
#include "../encode/struct_size.h"

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

static int append(struct jitdump *dump, const struct group *group, uint64_t *index)
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

int jd_dump_append(struct jitdump *dump, const struct group *group, uint64_t *index)
{
    const int error = get_ready(dump);
    return error != 0 ? error : append(dump, group, index);
}

int jd_dump_append_first(struct jitdump *dump, const struct group *group)
{
    return append(dump, group, &(uint64_t){0});
}

void jd_dump_append_close(struct jitdump *dump)
{
    const struct group group = {.encode = jd_record_close_write,
                                .head_size = sizeof(struct jit_code_close)};
    struct append_reservation reservation;
    append_to_block(dump, &group, &reservation);
}

static int load(struct jitdump *dump, const struct jitdump_code *code, struct scratch *scratch,
                uint64_t *index)
{
    struct function_records record; /* not zeroed: it is large, and the check sets what is used */
    record.code = code;
    record.elf_mach = dump->elf_mach;
    record.settings = &dump->debug_info;
    record.tiers = &dump->tiers;
    record.scratch = scratch;
    struct group group = {
        .encode = jd_function_records_write,
        .input = &record,
        .tail =
            code->code_bytes != NULL ? code->code_bytes : (const void *)(uintptr_t)code->code_addr,
        .tail_size = code->code_size,
    };
    int error = jd_function_records_check(&record, &group.head_size);
    if (error == 0)
        error = jd_dump_append(dump, &group, index);
    if (error == 0 && dump->perf_map.functions != NULL) {
        const struct process_shield shield = jd_process_shield();
        jd_perf_map_load(&dump->perf_map, *index, code->code_addr, code->code_size,
                         record.tier != NULL ? record.tier->prefix : "", code->name);
        jd_process_unshield(shield);
    }
    return error;
}

/* Apart, since the scratch is large for a stack that a load without tracks needs little of. */
__attribute__((noinline)) static int load_tracks(struct jitdump *dump,
                                                 const struct jitdump_code *code, uint64_t *index)
{
    const struct process_shield shield = jd_process_shield();
    struct scratch scratch;
    scratch.allocated = NULL;
    const int error = load(dump, code, &scratch, index);
    scratch_free(&scratch);
    jd_process_unshield(shield);
    return error;
}

int jitdump_load(struct jitdump *dump, const struct jitdump_code *code, uint64_t *code_index)
{
    struct jitdump_code copy;
    uint64_t index = 0;
    int error = 0;
    if (dump != NULL) {
        error = sticky_error(dump);
        if (error == 0 && code == NULL)
            error = JITDUMP_ERROR_ARGUMENT;
        if (error == 0)
            code = struct_known(code, &copy, sizeof(copy), CODE_SIZE_MIN);
        if (error == 0 && code == NULL)
            error = JITDUMP_ERROR_STRUCT_SIZE;
        if (error == 0)
            error = code->track_count != 0 ? load_tracks(dump, code, &index)
                                           : load(dump, code, NULL, &index);
    }
    if (code_index != NULL)
        *code_index = error == 0 ? index : 0;
    return error;
}

int jitdump_move(struct jitdump *dump, uint64_t code_index, uint64_t old_code_addr,
                 uint64_t new_code_addr, uint64_t code_size)
{
    if (dump == NULL)
        return 0;
    const struct record_move move = {code_index, old_code_addr, new_code_addr, code_size};
    const struct group group = {
        .encode = jd_record_move_write, .input = &move, .head_size = sizeof(struct jit_code_move)};
    int error = sticky_error(dump);
    if (error == 0)
        error = jd_record_move_check(&move);
    if (error == 0)
        error = jd_dump_append(dump, &group, &(uint64_t){0});
    if (error == 0 && dump->perf_map.functions != NULL) {
        const struct process_shield shield = jd_process_shield();
        jd_perf_map_move(&dump->perf_map, code_index, new_code_addr, code_size);
        jd_process_unshield(shield);
    }
    return error;
}

int jitdump_append_raw(struct jitdump *dump, uint32_t id, const void *payload,
                       uint64_t payload_size)
{
    if (dump == NULL)
        return 0;
    const struct record_raw raw = {id, payload_size};
    const struct group group = {.encode = jd_record_raw_write,
                                .input = &raw,
                                .head_size = sizeof(struct jit_record_header),
                                .tail = payload,
                                .tail_size = payload_size};
    int error = sticky_error(dump);
    if (error == 0)
        error = jd_record_raw_check(&raw);
    if (error == 0 && payload == NULL)
        error = JITDUMP_ERROR_ARGUMENT;
    return error != 0 ? error : jd_dump_append(dump, &group, &(uint64_t){0});
}
