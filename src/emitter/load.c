/*
 * Loads, moves and raw records: the public functions.
 */
#include "../platform/c_library.h"

#include "load.h"
#include "report.h"
#include "rooms.h"

#include "../encode/record.h"
#include "../encode/struct_size.h"

static void load_to_perf_map(struct jitdump *dump, struct perf_map_lines *lines,
                             const struct function_records *record, uint64_t index)
{
    const char *const prefix = record->tier != NULL ? record->tier->prefix : "";
    const struct jitdump_code *code = record->code;
    if (lines != NULL)
        jd_perf_map_add(&dump->perf_map, lines, index, code->code_addr, code->code_size, prefix,
                        record->name.bytes, record->name.size);
    else
        jd_perf_map_load(&dump->perf_map, index, code->code_addr, code->code_size, prefix,
                         record->name.bytes, record->name.size);
}

void jd_load_told(struct jitdump *dump, struct perf_map_lines *lines,
                  const struct function_records *record, uint64_t index)
{
    if (dump->perf_map.functions != NULL) {
        const struct process_shield shield = jd_process_shield();
        load_to_perf_map(dump, lines, record, index);
        jd_process_unshield(shield);
    }
    if (wants_reports(dump))
        jd_rooms_load(dump, record);
}

void jd_load_report(struct jitdump *dump, int error, const char *call,
                    const struct jitdump_code *code)
{
    if (!wants_reports(dump))
        return;
    char name[128] = "";
    if (code != NULL) {
        const struct text text = text_of(code->name, code->name_size);
        if (text.size != 0)
            memcpy(name, text.bytes, text.size < sizeof(name) ? text.size : sizeof(name) - 1);
    }
    jd_report_refusal(dump, error, call, name);
}

static int load(struct jitdump *dump, const struct jitdump_code *code, struct scratch *scratch,
                uint64_t *index)
{
    struct function_records record;
    load_record_init(&record, dump, code, scratch);
    return load_one(dump, &record, index);
}

/* Apart, since the scratch is large for a stack that a load without tracks needs little of. */
__attribute__((noinline)) static int load_tracks(struct jitdump *dump,
                                                 const struct jitdump_code *code, uint64_t *index)
{
    const struct process_shield shield = jd_process_shield();
    struct scratch scratch;
    scratch_init(&scratch);
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
    if (error != 0)
        jd_load_report(dump, error, "jitdump_load", code);
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
        error = start_and_append(dump, &group, &(uint64_t){0});
    if (error == 0 && dump->perf_map.functions != NULL) {
        const struct process_shield shield = jd_process_shield();
        jd_perf_map_move(&dump->perf_map, code_index, new_code_addr, code_size);
        jd_process_unshield(shield);
    }
    return reported(dump, error, "jitdump_move", NULL);
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
    if (error == 0)
        error = start_and_append(dump, &group, &(uint64_t){0});
    return reported(dump, error, "jitdump_append_raw", NULL);
}
