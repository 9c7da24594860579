#include "reader/decode.h"

/* Whether everything was there, at the end of a record. */
static bool finish(const struct cursor *cursor, struct problem *problem)
{
    *problem = (struct problem){cursor->error_offset, cursor->error};
    return cursor->error == NULL;
}

bool jd_decode_load(const struct dump_reader *reader, const struct dump_record *record,
                    struct load_record *load, struct problem *problem)
{
    static const char cut[] = "JIT_CODE_LOAD: shorter than its fields";
    struct cursor cursor = jd_dump_record_cursor(reader, record);
    load->pid = cursor_u32(&cursor, cut);
    load->tid = cursor_u32(&cursor, cut);
    load->vma = cursor_u64(&cursor, cut);
    load->code_addr = cursor_u64(&cursor, cut);
    load->code_size = cursor_u64(&cursor, cut);
    load->code_index = cursor_u64(&cursor, cut);
    load->name = cursor_string(&cursor, "JIT_CODE_LOAD: its name has no end");
    const uint64_t left = cursor_left(&cursor);
    if (load->code_size > left)
        cursor_fail_at(&cursor, record->offset, "JIT_CODE_LOAD: code_size is more than the record has");
    else if (load->code_size > UINT64_MAX - load->code_addr)
        cursor_fail_at(&cursor, record->offset,
                       "JIT_CODE_LOAD: the code reaches past the end of the address space");
    if (cursor.error == NULL) {
        load->padding = left - load->code_size;
        load->code = cursor.at + load->padding;
    }
    return finish(&cursor, problem);
}

bool jd_decode_move(const struct dump_reader *reader, const struct dump_record *record,
                    struct move_record *move, struct problem *problem)
{
    static const char cut[] = "JIT_CODE_MOVE: shorter than its fields";
    struct cursor cursor = jd_dump_record_cursor(reader, record);
    move->pid = cursor_u32(&cursor, cut);
    move->tid = cursor_u32(&cursor, cut);
    move->vma = cursor_u64(&cursor, cut);
    move->old_code_addr = cursor_u64(&cursor, cut);
    move->new_code_addr = cursor_u64(&cursor, cut);
    move->code_size = cursor_u64(&cursor, cut);
    move->code_index = cursor_u64(&cursor, cut);
    return finish(&cursor, problem);
}

bool jd_decode_unwinding(const struct dump_reader *reader, const struct dump_record *record,
                         struct unwinding_record *unwinding, struct problem *problem)
{
    static const char cut[] = "JIT_CODE_UNWINDING_INFO: shorter than its fields";
    struct cursor cursor = jd_dump_record_cursor(reader, record);
    const uint64_t data_size = cursor_u64(&cursor, cut);
    const uint64_t hdr_size = cursor_u64(&cursor, cut);
    unwinding->mapped_size = cursor_u64(&cursor, cut);
    if (data_size > cursor_left(&cursor))
        cursor_fail_at(&cursor, record->offset,
                       "JIT_CODE_UNWINDING_INFO: unwind_data_size is more than the record has");
    else if (hdr_size > data_size)
        cursor_fail_at(&cursor, record->offset,
                       "JIT_CODE_UNWINDING_INFO: eh_frame_hdr_size is more than unwind_data_size");
    if (cursor.error == NULL) {
        unwinding->eh_frame = (struct span){cursor.at, data_size - hdr_size};
        unwinding->eh_frame_hdr = (struct span){cursor.at + data_size - hdr_size, hdr_size};
    }
    return finish(&cursor, problem);
}

bool jd_decode_tier(const struct dump_reader *reader, const struct dump_record *record,
                    struct tier_record *tier, struct problem *problem)
{
    static const char cut[] = "SAMPLY_JIT_TIER: shorter than its fields";
    struct cursor cursor = jd_dump_record_cursor(reader, record);
    tier->tier_index = cursor_u32(&cursor, cut);
    tier->color_index = cursor_u32(&cursor, cut);
    tier->name = cursor_string(&cursor, "SAMPLY_JIT_TIER: its name has no end");
    return finish(&cursor, problem);
}

bool jd_decode_source(const struct dump_reader *reader, const struct dump_record *record,
                      struct source_record *source, struct problem *problem)
{
    static const char cut[] = "SAMPLY_EMBEDDED_SOURCE_FILE: shorter than its fields";
    struct cursor cursor = jd_dump_record_cursor(reader, record);
    const uint32_t path_size = cursor_u32(&cursor, cut);
    const uint32_t source_size = cursor_u32(&cursor, cut);
    const unsigned char *const path = cursor_take(&cursor, path_size, cut);
    if (path != NULL && (path_size == 0 || memchr(path, 0, path_size) != path + path_size - 1))
        cursor_fail_at(&cursor, record->offset,
                       "SAMPLY_EMBEDDED_SOURCE_FILE: path_size is not that of the path and its NUL");
    source->path = (struct span){path, path_size != 0 ? path_size - 1 : 0};
    source->text = (struct span){cursor_take(&cursor, source_size, cut), source_size};
    return finish(&cursor, problem);
}

bool jd_is_tier(const struct dump_reader *reader, const struct dump_record *record)
{
    struct cursor cursor = jd_dump_record_cursor(reader, record);
    const uint64_t payload_size = cursor_left(&cursor);
    const uint64_t counts = sizeof(struct samply_jit_code_debug_info_2026) -
                            sizeof(struct jit_record_header);
    if (payload_size < counts)
        return true;
    /* A tier that is as long has a name of more than eight bytes here, none of them 0. */
    cursor_take(&cursor, sizeof(uint64_t), NULL);
    const uint64_t code_offset_count = cursor_u64(&cursor, NULL);
    return code_offset_count > payload_size;
}
