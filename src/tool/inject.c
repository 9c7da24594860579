#define _GNU_SOURCE
#include "tool/inject.h"

#include "tool/inject_dumps.h"
#include "tool/input.h"
#include "tool/messages.h"
#include "tool/output_folder.h"
#include "tool/progress.h"
#include "tool/whole_file.h"

#include "inject/layout.h"
#include "inject/profile_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* With more layers than this over each other, what does not fit is packed into one file. */
enum { LAYER_MAX = 16, PATH_SIZE_MAX = 4096 };

struct injecting {
    const struct inject_request *request;
    struct inject_summary *summary;
    struct perf_data data;
    struct profile_scan scan;
    struct injected_dumps dumps;
    struct output_folder folder;

    struct profile_mapping *mappings;
    uint64_t mapping_count;
    uint64_t mapping_capacity;
    char **paths; /* of all ELF files */
    uint64_t path_count;
    uint64_t path_capacity;
    uint64_t *dropped;
    uint64_t dropped_count;
};

static bool no_memory(void)
{
    complain("out of memory");
    return false;
}

static bool unreadable(const struct injecting *injecting)
{
    complain("%s: at offset 0x%" PRIx64 ": %s", injecting->request->profile,
             injecting->data.offset, injecting->data.reason);
    return false;
}

static void *grow_by(void *array, uint64_t *capacity, uint64_t needed, size_t size)
{
    if (needed <= *capacity)
        return array;
    const uint64_t more = needed + *capacity / 2 + 16;
    void *const grown = realloc(array, (size_t)more * size);
    if (grown != NULL)
        *capacity = more;
    else
        no_memory();
    return grown;
}

/* ELF files */

/* jit-4711.elf, jit-4711-2.elf …: how perf shows where a function is. NULL, with a complaint. */
static const char *new_path(struct injecting *injecting, uint32_t pid, uint64_t number)
{
    char *path, suffix[32] = "";
    if (number > 1)
        snprintf(suffix, sizeof(suffix), "-%" PRIu64, number);
    char **const grown = grow_by(injecting->paths, &injecting->path_capacity,
                                 injecting->path_count + 1, sizeof(*injecting->paths));
    if (grown == NULL)
        return NULL;
    injecting->paths = grown;
    if (asprintf(&path, "%s/jit-%" PRIu32 "%s.elf", injecting->folder.path, pid, suffix) < 0) {
        no_memory();
        return NULL;
    }
    injecting->paths[injecting->path_count++] = path;
    if (strlen(path) < PATH_SIZE_MAX)
        return path;
    complain("%s: the name is too long for perf", path);
    return NULL;
}

/* The number of the process's next file. */
static uint64_t next_number(const struct injecting *injecting, const struct injected_dump *dump,
                            uint64_t *numbers)
{
    uint64_t index = 0;
    for (const struct injected_dump *other = injecting->dumps.first; other->pid != dump->pid;
         other = other->next)
        index++;
    return ++numbers[index];
}

static bool write_elf(struct injecting *injecting, const struct injected_dump *dump,
                      const struct layout_file *file, const char *path, struct elf_result *result)
{
    const struct problems problems = {.progress = progress_writing};
    const struct elf_options options = {.dynsym = true, .problems = &problems};
    const int fd = output_folder_file(&injecting->folder, strrchr(path, '/') + 1);
    if (fd < 0)
        return false;
    const enum elf_error error =
        elf_write(fd, &dump->history, file->pieces, (size_t)file->count, &options, result);
    progress_end();
    if (error != ELF_OK)
        complain("%s: %s", path,
                 error == ELF_NOT_WRITTEN ? strerror(result->system_error) : elf_strerror(error));
    return close(fd) == 0 && error == ELF_OK;
}

static bool add_mappings(struct injecting *injecting, const struct injected_dump *dump,
                         const struct layout *layout, const char *const *paths,
                         const struct elf_result *results)
{
    struct profile_mapping *const grown =
        grow_by(injecting->mappings, &injecting->mapping_capacity,
                injecting->mapping_count + layout->mapping_count, sizeof(*grown));
    if (grown == NULL)
        return false;
    injecting->mappings = grown;
    for (uint64_t i = 0; i < layout->mapping_count; i++) {
        const struct layout_mapping *const mapping = &layout->mappings[i];
        grown[injecting->mapping_count++] = (struct profile_mapping){
            .time = jd_profile_time(&dump->clock, mapping->time),
            .order = mapping->time,
            .address = mapping->address,
            .size = mapping->size,
            .file_offset = mapping->file_address - results[mapping->file].load_address,
            .pid = dump->pid,
            .path = paths[mapping->file],
        };
    }
    return true;
}

static bool write_files(struct injecting *injecting, const struct injected_dump *dump,
                        const struct layout *layout, uint64_t *numbers)
{
    const char **const paths = calloc(layout->file_count, sizeof(*paths));
    struct elf_result *const results = calloc(layout->file_count, sizeof(*results));
    bool written = paths != NULL && results != NULL;
    if (!written)
        no_memory();
    for (uint32_t i = 0; written && i < layout->file_count; i++) {
        paths[i] = new_path(injecting, dump->pid, next_number(injecting, dump, numbers));
        written = paths[i] != NULL &&
                  write_elf(injecting, dump, &layout->files[i], paths[i], &results[i]);
    }
    written = written && add_mappings(injecting, dump, layout, paths, results);
    free(paths);
    free(results);
    return written;
}

static bool inject_dump(struct injecting *injecting, const struct injected_dump *dump,
                        uint64_t *numbers)
{
    struct ranges occupied = {0};
    struct layout layout = {0};
    const struct layout_options options = {
        .layer_max = injecting->scan.stack_copies ? 0 : LAYER_MAX, .occupied = &occupied};
    bool injected = jd_scan_occupied(&injecting->scan, dump->pid, false, &occupied) &&
                    jd_layout_plan(&layout, &dump->history, &options);
    if (!injected)
        no_memory();
    else if (layout.file_count != 0)
        injected = write_files(injecting, dump, &layout, numbers);
    injecting->summary->dumps++;
    injecting->summary->functions += dump->history.piece_count;
    injecting->summary->files += layout.file_count;
    injecting->summary->mappings += layout.mapping_count;
    jd_layout_free(&layout);
    jd_ranges_free(&occupied);
    return injected;
}

static bool inject_dumps(struct injecting *injecting)
{
    uint64_t count = 0;
    for (const struct injected_dump *dump = injecting->dumps.first; dump != NULL;
         dump = dump->next)
        count++;
    uint64_t *const numbers = calloc((size_t)count + 1, sizeof(*numbers));
    bool injected = numbers != NULL || no_memory();
    for (const struct injected_dump *dump = injecting->dumps.first; injected && dump != NULL;
         dump = dump->next)
        injected = inject_dump(injecting, dump, numbers);
    free(numbers);
    return injected;
}

/* The process's own mappings of memory that has no file: they would hide the code (P17). */

static bool add_dropped(struct injecting *injecting, const struct injected_dump *dump,
                        struct ranges *code)
{
    const struct profile_scan *const scan = &injecting->scan;
    for (uint32_t i = 0; i < dump->history.life_count; i++) {
        const struct life *const life = &dump->history.lives[i];
        if (!jd_ranges_add(code, life->address,
                           life->address + life_size(&dump->history, life)))
            return no_memory();
    }
    for (uint64_t i = 0; i < scan->mapping_count; i++) {
        const struct scanned_mapping *const mapping = &scan->mappings[i];
        if (mapping->pid == dump->pid && mapping->executable &&
            jd_scan_is_anonymous(mapping->name) &&
            jd_ranges_overlap(code, mapping->begin, mapping->end))
            injecting->dropped[injecting->dropped_count++] = mapping->offset;
    }
    return true;
}

static int ascending(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static bool find_dropped(struct injecting *injecting)
{
    uint64_t dumps = 1;
    for (const struct injected_dump *dump = injecting->dumps.first; dump != NULL;
         dump = dump->next)
        dumps++;
    injecting->dropped =
        calloc((size_t)(injecting->scan.mapping_count + 1), dumps * sizeof(*injecting->dropped));
    if (injecting->dropped == NULL)
        return no_memory();
    for (const struct injected_dump *dump = injecting->dumps.first; dump != NULL;
         dump = dump->next) {
        struct ranges code = {0};
        const bool added = add_dropped(injecting, dump, &code);
        jd_ranges_free(&code);
        if (!added)
            return false;
    }
    qsort(injecting->dropped, (size_t)injecting->dropped_count, sizeof(*injecting->dropped),
          ascending);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < injecting->dropped_count; i++)
        if (kept == 0 || injecting->dropped[kept - 1] != injecting->dropped[i])
            injecting->dropped[kept++] = injecting->dropped[i];
    injecting->dropped_count = kept;
    return true;
}

/* The profile */

static int by_time(const void *left, const void *right)
{
    const struct profile_mapping *const a = left, *const b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static bool write_profile(struct injecting *injecting)
{
    struct whole_file output;
    if (injecting->mapping_count != 0)
        qsort(injecting->mappings, (size_t)injecting->mapping_count, sizeof(*injecting->mappings),
              by_time);
    if (!whole_file_open(&output, injecting->request->output))
        return false;
    const enum profile_write_error error =
        jd_profile_write(output.fd, &injecting->data, injecting->mappings,
                         injecting->mapping_count, injecting->dropped, injecting->dropped_count);
    if (error == PROFILE_NOT_READABLE)
        unreadable(injecting);
    else if (error != PROFILE_WRITTEN)
        complain("%s: %s", injecting->request->output, strerror(errno));
    if (error != PROFILE_WRITTEN) {
        whole_file_drop(&output);
        return false;
    }
    /* An old profile must not have the new files. */
    unlink(injecting->request->output);
    if (output_folder_finish(&injecting->folder))
        return whole_file_finish(&output);
    whole_file_drop(&output);
    return false;
}

static bool inject_all(struct injecting *injecting)
{
    char *folder;
    if (asprintf(&folder, "%s.jit", injecting->request->output) < 0)
        return no_memory();
    const bool opened = output_folder_open(&injecting->folder, folder);
    free(folder);
    if (!opened)
        return false;
    const bool injected = inject_dumps(injecting) && find_dropped(injecting) &&
                          write_profile(injecting);
    output_folder_drop(&injecting->folder);
    return injected;
}

/* Whether anything can be put into the profile. */
static bool is_fit(const struct injecting *injecting)
{
    const char *const profile = injecting->request->profile;
    if (injecting->scan.compressed)
        complain("%s: is compressed (perf record -z); this makes a profile that is not:\n"
                 "    perf inject -i %s -o plain.data", profile, profile);
    else if (!injecting->scan.has_times)
        complain("%s: has no times: perf record --timestamp", profile);
    else
        return true;
    return false;
}

static bool inject_profile(struct injecting *injecting, struct span file)
{
    const enum perf_data_error error = jd_perf_data_init(&injecting->data, file);
    if (error != PERF_DATA_OK)
        return error == PERF_DATA_NO_MEMORY ? no_memory() : unreadable(injecting);
    const enum scan_error scanned = jd_profile_scan(&injecting->scan, &injecting->data);
    if (scanned != SCAN_OK)
        return scanned == SCAN_NO_MEMORY ? no_memory() : unreadable(injecting);
    if (!is_fit(injecting) || !injected_dumps_read(&injecting->dumps, injecting->request,
                                                   &injecting->scan, &injecting->data))
        return false;
    injecting->summary->missing = injecting->dumps.missing;
    injecting->summary->dumps = injecting->dumps.missing;
    return inject_all(injecting);
}

bool inject(const struct inject_request *request, struct inject_summary *summary)
{
    struct injecting injecting = {.request = request, .summary = summary};
    struct mapped_file file;
    *summary = (struct inject_summary){0};
    if (!open_file(&file, request->profile))
        return false;
    const bool injected = inject_profile(&injecting, (struct span){file.data, file.size});
    injected_dumps_free(&injecting.dumps);
    jd_profile_scan_free(&injecting.scan);
    jd_perf_data_free(&injecting.data);
    for (uint64_t i = 0; i < injecting.path_count; i++)
        free(injecting.paths[i]);
    free(injecting.paths);
    free(injecting.mappings);
    free(injecting.dropped);
    jd_mapped_file_close(&file);
    return injected;
}
