/*
 * Any bytes as a dump and the profile that goes with it, from which a new profile is made: nothing may
 * be touched that is not there, memory may run out anywhere, every life is mapped from a file that can
 * be written, and the new profile has the old one's events and the new ones, each in front of what
 * happened later.
 *
 * The first byte says which allocation fails, the second has options, the next four how long the dump
 * is; dump and profile follow.
 */
#define _GNU_SOURCE
#include "failing_memory.h"
#include "require.h"
#include "target.h"

#include "inject/hidden_code.h"
#include "inject/layout.h"
#include "inject/pipe_profile.h"
#include "inject/plain_profile.h"
#include "inject/profile_writer.h"
#include "inject/undescribed.h"
#include "reader/read_history.h"
#include "writers/elf_extent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *target_output;

#define INPUT_HEADER_SIZE 6

enum { LAYERS = 3, ONLY_SAMPLED = 4, WITH_HOLE = 8, DROP = 16, BY_NAME = 32, PARTS = 64 };

static int files[4]; /* an ELF file, a profile, one that went through a pipe, one of several files */

static void write_files(const struct history *history, const struct layout *layout,
                        struct ranges *used, uint8_t bits)
{
    for (uint32_t i = 0; i < layout->file_count; i++) {
        const struct layout_file *const file = &layout->files[i];
        const struct placed *const last = &file->pieces[file->count - 1];
        const uint64_t end = last->address + last->piece->code_size;
        const uint64_t size = elf_hole_size(history, file->pieces, (size_t)file->count);
        struct elf_options options = {.dynsym = true,
                                      .merge_names = (bits & BY_NAME) != 0,
                                      .load_address = file->load_address,
                                      .load_end = file->load_end};
        if ((bits & WITH_HOLE) != 0 && size != 0) {
            const uint64_t lowest = end > ELF_HOLE_REACH + 4096 ? end - ELF_HOLE_REACH : 4096;
            options.hole_address = jd_ranges_take_hole(
                used, lowest, file->pieces[0].address / 4096 * 4096, size, 4096);
            options.hole_size = options.hole_address != 0 ? size : 0;
            REQUIRE(options.hole_address == 0 || options.hole_address >= lowest);
            REQUIRE(options.hole_address == 0 ||
                    jd_ranges_overlap(used, options.hole_address, options.hole_address + size));
        }
        struct elf_result result;
        REQUIRE(ftruncate(files[0], 0) == 0);
        const enum elf_error error = elf_write(files[0], history, file->pieces,
                                               (size_t)file->count, &options, &result);
        REQUIRE(error != ELF_EMPTY && error != ELF_OUT_OF_ORDER && error != ELF_HOLE &&
                error != ELF_SPREAD);
    }
}

/* Each life with code lies in a mapping of a file that has its piece there. */
static void check_layout(const struct history *history, const struct layout *layout)
{
    for (uint32_t i = 0; i < history->life_count; i++) {
        const struct life *const life = &history->lives[i];
        const uint64_t size = life_size(history, life);
        bool found = size == 0 || size > UINT64_MAX - life->address;
        for (uint64_t of = 0; !found && of < layout->mapping_count; of++) {
            const struct layout_mapping *const mapping = &layout->mappings[of];
            const struct layout_file *const file = &layout->files[mapping->file];
            if (life->address < mapping->address ||
                life->address - mapping->address > mapping->size ||
                mapping->size - (life->address - mapping->address) < size ||
                mapping->time > life->begin)
                continue;
            const uint64_t place = life->address - mapping->address + mapping->file_address;
            for (uint64_t piece = 0; !found && piece < file->count; piece++)
                found = file->pieces[piece].address == place &&
                        file->pieces[piece].piece == &history->pieces[life->piece];
        }
        REQUIRE(found);
    }
}

/* Of the files that reach over each other for libdw (P34), which have one end, a later one begins later. */
static void check_epochs(const struct layout *layout, const struct epochs *epochs,
                         const struct code_uses *uses)
{
    for (uint32_t i = 0; i < layout->file_count; i++)
        for (uint32_t of = 0; of < i; of++) {
            const struct layout_file *const a = &layout->files[of], *const b = &layout->files[i];
            REQUIRE(a->load_end == 0 || a->load_end != b->load_end ||
                    a->load_address < b->load_address);
        }
    for (uint64_t i = 1; i < epochs->member_count; i++)
        REQUIRE(epochs->members[i - 1].epoch <= epochs->members[i].epoch);
    REQUIRE(uses->count == 0 || epochs->count != 0);
}

/* The new profile, with what it should have. */
static void check_profile(const struct perf_data *old, const struct profile_mapping *mappings,
                          uint64_t mapping_count, uint64_t dropped_count)
{
    struct stat status;
    REQUIRE(fstat(files[1], &status) == 0);
    const size_t size = (size_t)status.st_size;
    unsigned char *const bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, files[1], 0);
    REQUIRE(bytes != MAP_FAILED);
    struct perf_data data = *old, again;
    uint64_t before = 0, after = 0, next = 0, latest = 0;
    struct perf_event event;
    jd_perf_data_rewind(&data);
    while (jd_perf_data_next(&data, &event))
        before++;
    const enum perf_data_error error = jd_perf_data_init(&again, (struct span){bytes, size});
    REQUIRE(error != PERF_DATA_NOT_READABLE);
    while (error == PERF_DATA_OK && jd_perf_data_next(&again, &event)) {
        const uint64_t time = jd_perf_event_time(&again, &event);
        struct perf_mapping mapping;
        struct problem problem;
        after++;
        if (next < mapping_count && event.type == PERF_EVENT_MMAP2 &&
            jd_perf_mapping(&again, &event, &mapping, &problem) &&
            mapping.pid == mappings[next].pid && mapping.address == mappings[next].address &&
            mapping.size == mappings[next].size && mapping.name.size == strlen("/f") &&
            memcmp(mapping.name.data, "/f", 2) == 0) {
            REQUIRE(latest < mappings[next].time || latest == 0);
            next++;
        } else if (time != UINT64_MAX && time > latest) {
            latest = time;
        }
    }
    if (error == PERF_DATA_OK) {
        REQUIRE(again.end == PERF_DATA_ENDS);
        REQUIRE(after == before - dropped_count + mapping_count && next == mapping_count);
    }
    jd_perf_data_free(&again);
    munmap(bytes, size);
}

static int by_time(const void *left, const void *right)
{
    const struct profile_mapping *const a = left, *const b = right;
    return a->time < b->time ? -1 : a->time > b->time;
}

static void write_profile(const struct history *history, struct perf_data *data,
                          const struct profile_scan *scan, const struct layout *layout,
                          const struct profile_clock *clock, uint32_t pid, struct ranges *holes,
                          uint8_t bits)
{
    const size_t room = (size_t)layout->mapping_count + 1;
    struct profile_mapping *const mappings = __real_calloc(room, sizeof(*mappings));
    struct hiding_events hiding = {0};
    for (uint64_t i = 0; i < layout->mapping_count; i++)
        mappings[i] = (struct profile_mapping){.time = jd_profile_time(clock, layout->mappings[i].time),
                                               .address = layout->mappings[i].address,
                                               .size = layout->mappings[i].size,
                                               .pid = pid,
                                               .path = "/f"};
    qsort(mappings, (size_t)layout->mapping_count, sizeof(*mappings), by_time);
    if ((bits & DROP) != 0)
        jd_hiding_events_add(&hiding, scan, history, clock, pid, holes);
    jd_hiding_events_sort(&hiding);
    REQUIRE(ftruncate(files[1], 0) == 0);
    const enum profile_write_error error = jd_profile_write(
        files[1], data, mappings, layout->mapping_count, hiding.offsets, hiding.count);
    if (error == PROFILE_WRITTEN && (data->attrs[0].flags & PERF_ATTR_SAMPLE_ID_ALL) != 0)
        check_profile(data, mappings, layout->mapping_count, hiding.count);
    REQUIRE(error != PROFILE_NOT_READABLE || data->reason != NULL);
    free(mappings);
    jd_hiding_events_free(&hiding);
}

static bool is_even(uint32_t pid)
{
    return pid % 2 == 0;
}

/* What has no dump: no sample is counted twice, and no process. */
static void check_undescribed(const struct profile_scan *scan, struct perf_data *data)
{
    const uint32_t pid = 1;
    struct undescribed undescribed;
    if (jd_undescribed_find(&undescribed, scan, &pid, 1, is_even, data)) {
        uint64_t samples = 0;
        for (uint64_t i = 0; i < undescribed.count; i++) {
            REQUIRE(undescribed.processes[i].samples != 0);
            REQUIRE(i == 0 || undescribed.processes[i - 1].pid < undescribed.processes[i].pid);
            samples += undescribed.processes[i].samples;
        }
        REQUIRE(samples <= undescribed.user_samples);
    }
    jd_undescribed_free(&undescribed);
}

static void inject(const struct history *history, struct perf_data *data, uint8_t bits)
{
    struct profile_scan scan;
    struct ranges occupied = {0}, used = {0};
    struct sample_marks marks = {0};
    struct layout layout = {0};
    struct epochs epochs = {0};
    struct layout_options options = {.layer_max = bits & LAYERS,
                                     .occupied = &occupied,
                                     .by_name = (bits & BY_NAME) != 0,
                                     .only_sampled = (bits & ONLY_SAMPLED) != 0};
    if (jd_profile_scan(&scan, data) == SCAN_OK) {
        const struct scanned_mapping nowhere = {.pid = history->reader.header.pid};
        const struct scanned_mapping *const mapping =
            scan.dump_count != 0 ? &scan.dumps[0] : &nowhere;
        const struct profile_clock clock = jd_profile_clock(&scan, data, history, mapping);
        const bool has_memory =
            jd_scan_occupied(&scan, mapping->pid, OCCUPIED_BY_FILES, &occupied) &&
            jd_scan_occupied(&scan, mapping->pid, OCCUPIED_BY_CODE, &used) &&
            jd_sample_marks_init(&marks, history, &clock, mapping->pid) &&
            jd_sample_marks_read(&marks, 1, &scan, data);
        check_undescribed(&scan, data);
        options.marks = marks.of_life;
        if (scan.stack_copies && !options.by_name) {
            options.epochs = &epochs;
            options.foreign = &used;
            options.layer_max = 0;
        }
        if (has_memory && jd_epochs_find(&epochs, history, &marks.uses) &&
            jd_layout_plan(&layout, history, &options)) {
            if (!options.only_sampled)
                check_layout(history, &layout);
            if (options.epochs != NULL)
                check_epochs(&layout, &epochs, &marks.uses);
            write_files(history, &layout, &used, bits);
            write_profile(history, data, &scan, &layout, &clock, mapping->pid, &used, bits);
        }
    }
    jd_layout_free(&layout);
    jd_epochs_free(&epochs);
    jd_sample_marks_free(&marks);
    jd_ranges_free(&occupied);
    jd_ranges_free(&used);
    jd_profile_scan_free(&scan);
}

/* As a file, what went through a pipe. Its attributes and events can be read if they could there. */
static bool convert(struct span *profile)
{
    struct problem problem = {0};
    struct stat status;
    REQUIRE(ftruncate(files[2], 0) == 0);
    const enum pipe_error error = jd_pipe_profile_write(files[2], *profile, &problem);
    REQUIRE(error != PIPE_NOT_READABLE || problem.reason != NULL);
    if (error != PIPE_OK)
        return false;
    REQUIRE(fstat(files[2], &status) == 0);
    profile->size = (uint64_t)status.st_size;
    profile->data = mmap(NULL, (size_t)profile->size, PROT_READ, MAP_PRIVATE, files[2], 0);
    REQUIRE(profile->data != MAP_FAILED);
    return true;
}

/* A profile with other parts: its own events once more, as a file, and as what was compressed. If it can be
 * written, all of its events can be read. */
static void join(const struct perf_data *data)
{
    const struct span events = {data->file.data + data->header.data.offset,
                                data->data_end - data->header.data.offset};
    struct profile_part parts[] = {{.events = *data, .unpacked = events},
                                   {.events = jd_events_alone(events)}};
    struct problem problem;
    struct plain_problem plain_problem = {0};
    struct stat status;
    struct perf_data plain;
    struct perf_event event;
    if (jd_part_is_compressed(&parts[0])) {
        REQUIRE(ftruncate(files[3], 0) == 0);
        REQUIRE(jd_part_write_frame(files[3], &parts[0], &problem) != PLAIN_NOT_READABLE ||
                problem.reason != NULL);
    }
    REQUIRE(ftruncate(files[3], 0) == 0);
    const enum plain_error error = jd_plain_profile_write(files[3], parts, 2, &plain_problem);
    REQUIRE(error != PLAIN_NOT_READABLE || plain_problem.problem.reason != NULL);
    if (error != PLAIN_OK)
        return;
    REQUIRE(fstat(files[3], &status) == 0);
    const struct span file = {mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, files[3], 0),
                              (uint64_t)status.st_size};
    REQUIRE(file.data != MAP_FAILED);
    /* What lies behind the events in the old file is not in the new one. */
    if (jd_perf_data_init(&plain, file) == PERF_DATA_OK) {
        while (jd_perf_data_next(&plain, &event))
            REQUIRE(event.type != PERF_EVENT_FINISHED_ROUND && event.type != PERF_EVENT_COMPRESSED);
        REQUIRE(plain.end == PERF_DATA_ENDS);
    }
    jd_perf_data_free(&plain);
    munmap((void *)(uintptr_t)file.data, (size_t)file.size);
}

static void inject_profile(const struct history *history, struct span profile, uint8_t bits)
{
    struct perf_data data;
    const bool converted = jd_is_pipe_profile(profile);
    if (converted && !convert(&profile))
        return;
    const enum perf_data_error error = jd_perf_data_init(&data, profile);
    REQUIRE(!converted || error != PERF_DATA_NOT_READABLE);
    if (error == PERF_DATA_OK && (bits & PARTS) != 0)
        join(&data);
    else if (error == PERF_DATA_OK)
        inject(history, &data, bits);
    jd_perf_data_free(&data);
    if (converted)
        munmap((void *)(uintptr_t)profile.data, (size_t)profile.size);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    for (unsigned i = 0; i < 4; i++)
        files[i] = memfd_create("file", 0);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < INPUT_HEADER_SIZE)
        return 0;
    const size_t left = size - INPUT_HEADER_SIZE;
    uint32_t dump_size;
    memcpy(&dump_size, bytes + 2, sizeof(dump_size));
    if (dump_size > left)
        dump_size = (uint32_t)left;
    unsigned char *const dump = copy(bytes + INPUT_HEADER_SIZE, dump_size);
    unsigned char *const profile = copy(bytes + INPUT_HEADER_SIZE + dump_size, left - dump_size);
    const struct mapped_file file = {.data = dump, .size = dump_size};
    struct history history;
    failing = bytes[0];
    if (jd_history_read(&history, &file, NULL) == HISTORY_OK) {
        inject_profile(&history, (struct span){profile, left - dump_size}, bytes[1]);
        jd_history_free(&history);
    }
    failing = 0;
    free(dump);
    free(profile);
    return 0;
}
