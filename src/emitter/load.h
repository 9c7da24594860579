/*
 * What loads have in common, of one function or of many.
 */
#ifndef JITDUMP_LOAD_H
#define JITDUMP_LOAD_H

#include "start.h"

#pragma GCC visibility push(hidden)

static inline const void *load_code_bytes(const struct jitdump_code *code)
{
    return code->code_bytes != NULL ? code->code_bytes : (const void *)(uintptr_t)code->code_addr;
}

/* Sets what is needed of the record: it is large, and the check sets what is used. `scratch` may be
 * NULL if the code has no tracks. */
static inline void load_record_init(struct function_records *record, struct jitdump *dump,
                                    const struct jitdump_code *code, struct scratch *scratch)
{
    record->code = code;
    record->elf_mach = dump->elf_mach;
    record->settings = &dump->debug_info;
    record->tiers = &dump->tiers;
    record->frames = NULL;
    record->scratch = scratch;
}

/* What is to be done behind the append, where the dump has a perf map or reports. `lines`: where the
 * perf map's line goes; NULL: to the map. */
void jd_load_told(struct jitdump *dump, struct perf_map_lines *lines,
                  const struct function_records *record, uint64_t index);

static inline bool load_is_to_be_told(const struct jitdump *dump)
{
    return dump->perf_map.functions != NULL || (dump->flags & JITDUMP_DEBUG) != 0;
}

static inline void load_tell(struct jitdump *dump, const struct function_records *record,
                             uint64_t index)
{
    if (load_is_to_be_told(dump))
        jd_load_told(dump, NULL, record, index);
}

/* Loads the function alone; of a record that is set, and a struct of this version. */
static inline int load_one(struct jitdump *dump, struct function_records *record,
                           uint64_t *index)
{
    struct group group = {
        .encode = jd_function_records_write,
        .input = record,
        .tail = load_code_bytes(record->code),
        .tail_size = record->code->code_size,
    };
    int error = jd_function_records_check(record, &group.head_size);
    if (error == 0)
        error = start_and_append(dump, &group, index);
    if (error == 0)
        load_tell(dump, record, *index);
    return error;
}

/* Says what is refused, if that is wanted. `code` may be NULL. */
void jd_load_report(struct jitdump *dump, int error, const char *call,
                    const struct jitdump_code *code);

#pragma GCC visibility pop

#endif
