#include "../platform/c_library.h"

#include "function_records.h"

#include "eh_frame.h"
#include "record.h"

/* JIT_CODE_UNWINDING_INFO */

static int unwinding_info_check(const struct function_records *record, uint64_t *size)
{
    struct unwind_size data;
    int error = jd_unwind_check(record->code, record->elf_mach, record->frames, &data);
    /* Compilers leave out what never unwinds. */
    if (error == JITDUMP_ERROR_UNWIND_MISSING && !record->settings->strict)
        error = 0;
    const uint64_t data_size = data.eh_frame + data.eh_frame_hdr;
    *size = data_size != 0 ? sizeof(struct jit_code_unwinding_info) + data_size : 0;
    return error;
}

static unsigned char *unwinding_info_write(unsigned char *to, const struct record_stamp *stamp,
                                           const struct function_records *function)
{
    struct jit_code_unwinding_info *const record = (struct jit_code_unwinding_info *)to;
    to += sizeof(*record);
    const struct unwind_size data = jd_unwind_write(to, stamp->elf_mach, function->frames, function->code);
    const uint64_t data_size = data.eh_frame + data.eh_frame_hdr;
    record->header = record_header(JIT_CODE_UNWINDING_INFO, sizeof(*record) + data_size, stamp);
    record->unwind_data_size = data_size;
    record->eh_frame_hdr_size = data.eh_frame_hdr;
    /* With 0, perf would not use the data. */
    record->mapped_size = data_size;
    return to + data_size;
}

/* JIT_CODE_LOAD */

static int load_check(struct function_records *record, uint64_t *head_size)
{
    const struct jitdump_code *code = record->code;
    const struct text name = text_of(code->name, code->name_size);
    if (name.size == 0)
        return JITDUMP_ERROR_NAME_MISSING;
    if (code->code_size != 0 && code->code_bytes == NULL && code->code_addr == 0)
        return JITDUMP_ERROR_CODE_MISSING;
    const int error = jd_record_range_check(code->code_addr, code->code_size);
    if (error != 0)
        return error;
    /* In a 32-bit process: code to be read where no pointer leads. */
    if (code->code_bytes == NULL && code->code_addr + code->code_size > UINTPTR_MAX)
        return JITDUMP_ERROR_CODE_ADDR;
    record->prefix_size = record->tier != NULL ? strlen(record->tier->prefix) : 0;
    record->name = name;
    *head_size = sizeof(struct jit_code_load) + record->prefix_size + name.size + 1;
    return *head_size + code->code_size > UINT32_MAX ? JITDUMP_ERROR_RECORD_SIZE : 0;
}

static unsigned char *load_write(unsigned char *to, const struct record_stamp *stamp,
                                 const struct function_records *input)
{
    const struct jitdump_code *code = input->code;
    const size_t prefix_size = input->prefix_size, name_size = input->name.size + 1;
    struct jit_code_load *const record = (struct jit_code_load *)to;
    record->header = record_header(
        JIT_CODE_LOAD, sizeof(*record) + prefix_size + name_size + code->code_size, stamp);
    record->pid = stamp->pid;
    record->tid = stamp->tid;
    record->vma = code->code_addr;
    record->code_addr = code->code_addr;
    record->code_size = code->code_size;
    record->code_index = stamp->code_index;
    to += sizeof(*record);
    if (prefix_size != 0)
        to = put(to, input->tier->prefix, prefix_size);
    return put_text(to, input->name);
}

/* The group. Most functions have some of it only: what they don't have costs no call. */

static bool has_lines(const struct jitdump_code *code)
{
    return code->line_count != 0 || code->track_count != 0 || code->line_row_count != 0;
}

/* Half of it given is an error of the check's. */
static bool has_unwinding(const struct jitdump_code *code)
{
    return code->eh_frame_size != 0 || code->unwind != NULL || code->eh_frame != NULL ||
           code->eh_frame_hdr_size != 0 || code->eh_frame_hdr != NULL;
}

static bool has_tier_record(const struct function_records *record)
{
    return record->tier != NULL && record->settings->tier_records;
}

int jd_function_records_check(struct function_records *record, uint64_t *head_size)
{
    const struct jitdump_code *code = record->code;
    record->tier = code->tier != 0 ? tiers_find(record->tiers, code->tier) : NULL;
    if (record->tier == NULL && code->tier != 0)
        return JITDUMP_ERROR_TIER;
    uint64_t load_size, debug_info_size = 0;
    record->unwinding_info_size = 0;
    int error = load_check(record, &load_size);
    if (error == 0 && has_lines(code))
        error = jd_debug_info_check(&record->debug_info, record->settings, code, record->scratch,
                                    &debug_info_size);
    if (error == 0 && has_unwinding(code))
        error = unwinding_info_check(record, &record->unwinding_info_size);
    if (error == 0)
        *head_size = debug_info_size + record->unwinding_info_size + load_size;
    if (error == 0 && has_tier_record(record))
        *head_size += jd_samply_tier_size(record->tier);
    return error;
}

unsigned char *jd_function_records_write(unsigned char *to, const struct record_stamp *stamp,
                                    const void *input)
{
    const struct function_records *record = input;
    if (has_lines(record->code))
        to = jd_debug_info_write(to, stamp, &record->debug_info);
    if (has_tier_record(record))
        to = jd_samply_tier_write(to, stamp, record->tier);
    if (record->unwinding_info_size != 0)
        to = unwinding_info_write(to, stamp, record);
    return load_write(to, stamp, record);
}
