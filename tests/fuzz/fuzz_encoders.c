/*
 * A description of a function -> its group of records, in memory of just the size that the
 * encoders ask for -> read again.
 *
 * With target_output it leaves a dump of each function there, and its track as text:
 * test_corpus.py has other readers compare them.
 */
#define _GNU_SOURCE
#include "describe.h"
#include "encode/function_records.h"
#include "encode/record.h"
#include "records.h"
#include "target.h"
#include "encode/eh_frame.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More is not written, only measured. */
#define HEAD_SIZE_MAX (64 << 20)

const char *target_output;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    describe_init();
    return 0;
}

/* Of the input, and so of its output. */
static uint32_t output_number;

static FILE *open_output(const char *prefix, const char *suffix)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s-%u.%s", target_output, prefix, output_number, suffix);
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

static bool is_word(const char *string)
{
    return string != NULL && string[0] != '\0' &&
           strspn(string, "abcdefghijklmnopqrstuvwxyz") == strlen(string);
}

/* Whether the decoder in Python can take it, and in a moment. */
static bool is_for_decoder(const struct jitdump_code *code, const struct jitdump_track *track)
{
    bool words = true, in_order = true, says_something = false;
    for (uint64_t i = 0; i < track->offset_count; i++) {
        const struct jitdump_offset *offset = &track->offsets[i];
        in_order &= offset->code_offset < code->code_size &&
                    (i == 0 || offset[-1].code_offset < offset->code_offset);
        says_something |= offset->position != JITDUMP_NONE;
    }
    for (uint64_t i = 0; i < track->function_count; i++) {
        const struct jitdump_function *f = &track->functions[i];
        words &= is_word(f->name) && (f->file == NULL || f->file[0] == '\0' || is_word(f->file));
    }
    return words && in_order && says_something && code->code_size <= 2000 && track->position_count <= 200;
}

/* As test_corpus.py reads it. */
static void output_track(const struct jitdump_code *code, const struct jitdump_track *track,
                         const struct debug_info_settings *settings)
{
    FILE *file = open_output("track", "txt");
    fprintf(file, "%u %d %llu %llu\n", (unsigned)settings->dialect, settings->outermost,
            (unsigned long long)code->code_addr, (unsigned long long)code->code_size);
    for (uint64_t i = 0; i < track->function_count; i++) {
        const struct jitdump_function *f = &track->functions[i];
        fprintf(file, "function %s %s %u %u %u\n", f->name, is_word(f->file) ? f->file : "-",
                f->start_line, f->start_column, f->flags);
    }
    for (uint64_t i = 0; i < track->position_count; i++) {
        const struct jitdump_position *p = &track->positions[i];
        fprintf(file, "position %u %u %u %d\n", p->function, p->line, p->column, (int)p->caller);
    }
    for (uint64_t i = 0; i < track->offset_count; i++)
        fprintf(file, "offset %u %d\n", track->offsets[i].code_offset,
                (int)track->offsets[i].position);
    fclose(file);
}

static void output_dump(const char *prefix, const struct jitdump_code *code,
                        const struct record_stamp *stamp, const unsigned char *head,
                        uint64_t head_size)
{
    const struct jitdump_file_header header = {.magic = JITDUMP_MAGIC,
                                               .version = JITDUMP_FILE_VERSION,
                                               .total_size = sizeof(header),
                                               .elf_mach = stamp->elf_mach,
                                               .pid = stamp->pid};
    unsigned char close_record[sizeof(struct jit_code_close)];
    jd_record_close_write(close_record, stamp, NULL);
    FILE *file = open_output(prefix, "dump");
    fwrite(&header, sizeof(header), 1, file);
    fwrite(head, (size_t)head_size, 1, file);
    fwrite(code->code_bytes != NULL ? code->code_bytes : (const void *)(uintptr_t)code->code_addr,
           (size_t)code->code_size, 1, file);
    fwrite(close_record, sizeof(close_record), 1, file);
    fclose(file);
}

/* For the strict reader, jit-*.dump, which knows lines and frames, and for the decoder of tracks,
 * track-*.dump. Unwinding data that is the input's own bytes is none that one could
 * read. */
static void output(const struct function_records *record, const struct record_stamp *stamp,
                   const unsigned char *head, uint64_t head_size)
{
    const struct jitdump_code *code = record->code;
    if (code->track_count == 0 && code->eh_frame_hdr_size == 0 && code->code_size <= POOL_SIZE) {
        output_dump("jit", code, stamp, head, head_size);
    } else if (code->track_count != 0) {
        const struct jitdump_track *track = jd_track_choose(code, record->settings->track, NULL);
        if (!is_for_decoder(code, track))
            return;
        output_dump("track", code, stamp, head, head_size);
        output_track(code, track, record->settings);
    }
}

/* The head without the code: as if its last record ended there. */
static void cut_code(unsigned char *head, uint64_t head_size, const struct function_records *record)
{
    const uint64_t load_size =
        sizeof(struct jit_code_load) + record->prefix_size + record->name.size + 1;
    struct jit_record_header header;
    memcpy(&header, head + head_size - load_size, sizeof(header));
    expect("total_size of the load", header.total_size, load_size + record->code->code_size);
    header.total_size = (uint32_t)load_size;
    memcpy(head + head_size - load_size, &header, sizeof(header));
}

static void check_head(const struct function_records *record, uint64_t head_size)
{
    const struct record_stamp stamp = {.timestamp = 77,
                                       .code_index = 4711,
                                       .pid = output_number,
                                       .tid = 99,
                                       .elf_mach = record->elf_mach};
    unsigned char *head = malloc((size_t)head_size);
    memset(head, 0xa5, (size_t)head_size);
    const unsigned char *end = jd_function_records_write(head, &stamp, record);
    expect("bytes written", (uint64_t)(end - head), head_size);
    if (target_output != NULL)
        output(record, &stamp, head, head_size);
    cut_code(head, head_size, record);

    const struct file_facts file = {.pid = stamp.pid,
                                    .tid = stamp.tid,
                                    .elf_mach = stamp.elf_mach,
                                    .dialect = record->settings->dialect,
                                    .tier_records = record->settings->tier_records,
                                    .outermost = record->settings->outermost,
                                    .track = record->settings->track};
    struct tier_facts tier = {0, 0, NULL, NULL};
    if (record->tier != NULL)
        tier = (struct tier_facts){record->tier->number, record->tier->color_index,
                                   record->tier->name, record->tier->prefix};
    struct reader reader = {head, (size_t)head_size};
    uint64_t timestamp = 0;
    check_group(&reader, &file, &tier, record->code, stamp.code_index, false, &timestamp);
    expect("bytes behind the group", reader.left, 0);
    free(head);
}

/* The same frames for __register_frame(), into a buffer of the caller's. */
static void check_eh_frame(struct input *input, uint32_t elf_mach, const struct jitdump_code *code)
{
    uint64_t size = 1, again = 1;
    int error = jitdump_unwind_eh_frame(elf_mach, code, NULL, 0, &size);
    if (error != JITDUMP_ERROR_UNWIND_CAPACITY) {
        if (error >= 0)
            wrong("unwind_eh_frame into nothing", (uint64_t)error, 0);
        expect("size after an error", size, 0);
        return;
    }
    const uint64_t capacity = size + take_u8(input) % 3 - 1;
    unsigned char *bytes = malloc((size_t)capacity);
    error = jitdump_unwind_eh_frame(elf_mach, code, bytes, capacity, &again);
    expect("size of the eh_frame", again, size);
    if (error == 0)
        check_unwinding(bytes, size, 0, elf_mach, code);
    else if (error != JITDUMP_ERROR_UNWIND_CAPACITY || capacity >= size)
        wrong("error of unwind_eh_frame", (uint64_t)-error, 0);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const uint32_t machines[] = {EM_X86_64, EM_AARCH64, EM_RISCV, EM_S390};
    struct input input = {bytes, size};
    output_number++;
    const uint8_t bits = take_u8(&input), tier_bits = take_u8(&input);
    const uint32_t elf_mach = machines[bits & 3];
    const struct debug_info_settings settings = {
        .dialect = (enum jitdump_dialect)((bits >> 2 & 3) % 3),
        .tier_records = (bits & 64) == 0 && (bits >> 2 & 3) == JITDUMP_DIALECT_SAMPLY_2023,
        .outermost = (bits & 16) != 0,
        .track = (bits & 32) != 0 ? "one" : "two"};

    struct description description;
    describe(&description, &input);
    struct tiers tiers = {.count = 0};
    if ((tier_bits & 1) != 0) {
        const char *name = take_string(&description, &input);
        const char *prefix = take_string(&description, &input);
        const struct tier *tier =
            jd_tiers_add(&tiers, name != NULL && name[0] != '\0' ? name : "tier", tier_bits >> 4,
                         prefix != NULL ? prefix : "");
        description.code.tier = tier->number + ((tier_bits & 14) == 14);
    }

    struct scratch scratch;
    scratch_init(&scratch);
    struct function_records record = {.code = &description.code,
                                 .elf_mach = elf_mach,
                                 .settings = &settings,
                                 .tiers = &tiers,
                                 .scratch = &scratch};
    uint64_t head_size = 0;
    const int error = jd_function_records_check(&record, &head_size);
    if (error > 0 || error < JITDUMP_ERROR_UNSUPPORTED ||
        (error <= JITDUMP_ERROR_CLOCK_UNSUPPORTED && error >= JITDUMP_ERROR_BUSY))
        wrong("error of a description", (uint64_t)-error, 0);
    if (error == 0 && head_size <= HEAD_SIZE_MAX)
        check_head(&record, head_size);
    scratch_free(&scratch);
    if (description.code.unwind != NULL)
        check_eh_frame(&input, elf_mach, &description.code);
    tiers_free(&tiers);
    describe_end(&description);
    return 0;
}
