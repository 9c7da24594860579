/*
 * Many loads in one call: as many functions as fit into a block share a reservation, a reading of
 * the clock and a write.
 *
 * Each function is checked twice, to say its size and again before it is written, since what the check
 * finds out takes more memory than a call should need for hundreds of functions.
 */
#include "../platform/c_library.h"

#include "load.h"
#include "report.h"

#include "../encode/frame_copy.h"
#include "../encode/struct_size.h"

#include <assert.h>

struct batch {
    struct jitdump *dump;
    const unsigned char *codes;
    uint64_t stride;
    uint64_t count;
    uint64_t *indices; /* NULL: nobody wants them */
    struct scratch scratch;
    struct frame_index frames;
};

/* A run of functions that are to be written together. */
struct run {
    struct batch *batch;
    uint64_t first;
    uint64_t count;
};

static const struct jitdump_code *code_at(const struct batch *batch, uint64_t i,
                                          struct jitdump_code *copy)
{
    const void *given = batch->codes + i * batch->stride;
    if (*(const uint32_t *)given != batch->stride)
        return NULL;
    return struct_known(given, copy, sizeof(*copy), CODE_SIZE_MIN);
}

static void set_index(const struct batch *batch, uint64_t i, uint64_t index)
{
    if (batch->indices != NULL)
        batch->indices[i] = index;
}

/* The size is that of all the function's bytes. */
static int check_one(struct batch *batch, struct function_records *record,
                     const struct jitdump_code *code, uint64_t *size)
{
    if (code == NULL)
        return JITDUMP_ERROR_STRUCT_SIZE;
    load_record_init(record, batch->dump, code, &batch->scratch);
    record->frames = &batch->frames;
    uint64_t head_size;
    const int error = jd_function_records_check(record, &head_size);
    if (error == 0)
        *size = head_size + code->code_size;
    return error;
}

static unsigned char *write_run(unsigned char *to, const struct record_stamp *stamp,
                                const void *input)
{
    const struct run *run = input;
    struct batch *batch = run->batch;
    const unsigned char *start = to;
    for (uint64_t i = run->first; i < run->first + run->count; i++) {
        struct jitdump_code copy;
        struct function_records record;
        const struct jitdump_code *code = code_at(batch, i, &copy);
        uint64_t size;
        const int error = check_one(batch, &record, code, &size);
        assert(error == 0);
        (void)error;
        struct record_stamp own = *stamp;
        own.code_index += (uint64_t)(to - start);
        to = jd_function_records_write(to, &own, &record);
        if (code->code_size != 0)
            to = put(to, load_code_bytes(code), (size_t)code->code_size);
        set_index(batch, i, own.code_index);
    }
    return to;
}

/* How many bytes may go into one append. */
static uint64_t room(struct jitdump *dump)
{
    const uint64_t block_size = dump->buffer.block_size;
    if (dump->size_limit == 0)
        return block_size;
    /* A count: see accept_size(). If others take what is left, the append finds out. */
    const uint64_t left = dump->size_limit - sizeof(struct jit_code_close) -
                          atomic_load_explicit(&dump->accepted, memory_order_relaxed);
    return left < block_size ? left : block_size;
}

static void tell_run(const struct run *run, uint64_t run_size, uint64_t index)
{
    struct jitdump *dump = run->batch->dump;
    const bool has_map = dump->perf_map.functions != NULL;
    struct perf_map_lines lines;
    if (has_map)
        jd_perf_map_begin(&dump->perf_map, &lines, run_size);
    for (uint64_t i = run->first; i < run->first + run->count; i++) {
        struct jitdump_code copy;
        struct function_records record;
        uint64_t size = 0;
        if (check_one(run->batch, &record, code_at(run->batch, i, &copy), &size) == 0)
            jd_load_told(dump, has_map ? &lines : NULL, &record, index);
        index += size;
    }
    if (has_map)
        jd_perf_map_end(&dump->perf_map, &lines);
}

/* The section of function i is looked up in from now on, if that of the next is the same. */
static void index_frames(struct batch *batch, uint64_t i)
{
    struct jitdump_code copy, next_copy;
    const struct jitdump_code *code = code_at(batch, i, &copy);
    if (code == NULL || code->eh_frame == NULL || i + 1 == batch->count ||
        jd_frame_index_is_of(&batch->frames, code))
        return;
    const struct jitdump_code *next = code_at(batch, i + 1, &next_copy);
    if (next != NULL && next->eh_frame == code->eh_frame && code->eh_frame_size != 0 &&
        code->eh_frame_size <= JITDUMP_CODE_SIZE_MAX)
        jd_frame_index_make(&batch->frames, code, batch->dump->elf_mach);
}

/* Loads the functions from `*next` on: a run, or one alone. */
static int load_next(struct batch *batch, uint64_t *next)
{
    struct jitdump_code copy;
    struct function_records record;
    struct run run = {batch, *next, 0};
    uint64_t run_size = 0, size = 0;
    const uint64_t limit = room(batch->dump);
    int error = 0;
    for (; *next < batch->count; ++*next, run.count++, run_size += size) {
        index_frames(batch, *next);
        error = check_one(batch, &record, code_at(batch, *next, &copy), &size);
        if (error != 0 || size > limit - run_size)
            break;
    }
    uint64_t index = 0;
    if (run.count != 0) {
        const struct group group = {.encode = write_run, .input = &run, .head_size = run_size};
        error = start_and_append(batch->dump, &group, &index);
        if (error == 0 && load_is_to_be_told(batch->dump))
            tell_run(&run, run_size, index);
        for (uint64_t i = run.first; error != 0 && i < *next; i++)
            set_index(batch, i, 0);
        return error;
    }
    const uint64_t i = (*next)++;
    const struct jitdump_code *code = code_at(batch, i, &copy);
    if (error == 0)
        error = load_one(batch->dump, &record, &index);
    set_index(batch, i, error == 0 ? index : 0);
    if (error != 0)
        jd_load_report(batch->dump, error, "jitdump_load_many", code);
    return error;
}

/* Apart, since the scratch is large for a stack. */
__attribute__((noinline)) static int load_all(struct jitdump *dump,
                                              const struct jitdump_code *codes, uint64_t count,
                                              uint64_t *indices)
{
    const struct process_shield shield = jd_process_shield();
    struct batch batch; /* not zeroed: most of it is scratch */
    batch.dump = dump;
    batch.codes = (const unsigned char *)codes;
    batch.stride = codes[0].struct_size;
    batch.count = count;
    batch.indices = indices;
    batch.frames = FRAME_INDEX_NONE;
    scratch_init(&batch.scratch);
    int result = 0;
    uint64_t next = 0;
    while (next < count && sticky_error(dump) == 0) {
        const int error = load_next(&batch, &next);
        if (result == 0 || (error != 0 && error == sticky_error(dump)))
            result = error;
    }
    /* Perhaps of another thread's write. */
    if (next < count)
        result = sticky_error(dump);
    for (; next < count; next++)
        set_index(&batch, next, 0);
    jd_frame_index_free(&batch.frames);
    scratch_free(&batch.scratch);
    jd_process_unshield(shield);
    return result;
}

int jitdump_load_many(struct jitdump *dump, const struct jitdump_code *codes, uint64_t count,
                      uint64_t *code_indices)
{
    int error = 0;
    if (dump != NULL) {
        error = sticky_error(dump);
        if (error == 0 && count != 0 && codes == NULL)
            error = JITDUMP_ERROR_ARGUMENT;
        if (error == 0 && count != 0 && !jd_struct_size_is_sound(codes[0].struct_size, CODE_SIZE_MIN))
            error = JITDUMP_ERROR_STRUCT_SIZE;
        if (error != 0)
            jd_load_report(dump, error, "jitdump_load_many", NULL);
    }
    if (dump != NULL && error == 0 && count != 0)
        return load_all(dump, codes, count, code_indices);
    for (uint64_t i = 0; code_indices != NULL && i < count; i++)
        code_indices[i] = 0;
    return error;
}
