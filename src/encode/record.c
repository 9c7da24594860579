#include "../platform/c_library.h"

#include "record.h"

int jd_record_range_check(uint64_t code_addr, uint64_t code_size)
{
    if (code_size > JITDUMP_CODE_SIZE_MAX)
        return JITDUMP_ERROR_CODE_SIZE;
    if (code_addr > UINT64_MAX - code_size)
        return JITDUMP_ERROR_CODE_ADDR;
    return 0;
}

/* JIT_CODE_MOVE */

int jd_record_move_check(const struct record_move *move)
{
    if (move->code_index == 0)
        return JITDUMP_ERROR_CODE_INDEX;
    const int error = jd_record_range_check(move->old_code_addr, move->code_size);
    return error != 0 ? error : jd_record_range_check(move->new_code_addr, move->code_size);
}

unsigned char *jd_record_move_write(unsigned char *to, const struct record_stamp *stamp,
                                    const void *input)
{
    const struct record_move *move = input;
    struct jit_code_move *const record = (struct jit_code_move *)to;
    record->header = record_header(JIT_CODE_MOVE, sizeof(*record), stamp);
    record->pid = stamp->pid;
    record->tid = stamp->tid;
    record->vma = move->new_code_addr;
    record->old_code_addr = move->old_code_addr;
    record->new_code_addr = move->new_code_addr;
    record->code_size = move->code_size;
    record->code_index = move->code_index;
    return to + sizeof(*record);
}

/* Records of other ids, and the last one */

int jd_record_raw_check(const struct record_raw *raw)
{
    if (raw->id <= JIT_CODE_LAST_SPECIFIED)
        return JITDUMP_ERROR_RECORD_ID;
    if (raw->payload_size == 0)
        return JITDUMP_ERROR_RECORD_EMPTY;
    if (raw->payload_size > UINT32_MAX - sizeof(struct jit_record_header))
        return JITDUMP_ERROR_RECORD_SIZE;
    return 0;
}

unsigned char *jd_record_raw_write(unsigned char *to, const struct record_stamp *stamp,
                                   const void *input)
{
    const struct record_raw *raw = input;
    const struct jit_record_header record = {
        raw->id, (uint32_t)(sizeof(record) + raw->payload_size), stamp->timestamp};
    return put(to, &record, sizeof(record));
}

unsigned char *jd_record_close_write(unsigned char *to, const struct record_stamp *stamp,
                                     const void *unused)
{
    (void)unused;
    const struct jit_code_close record = {
        record_header(JIT_CODE_CLOSE, sizeof(record), stamp)};
    return put(to, &record, sizeof(record));
}
