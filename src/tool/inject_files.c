#define _GNU_SOURCE
#include "tool/inject_files.h"

#include "tool/inject_sources.h"
#include "tool/inject_space.h"
#include "tool/messages.h"
#include "tool/progress.h"

#include "inject/layout.h"
#include "reader/grow.h"
#include "writers/elf_extent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    /* With more layers than this over each other, what does not fit is packed into one file. */
    LAYER_MAX = 16,
    PATH_SIZE_MAX = 4096,
    PAGE = 4096
};

/* One dump's. */
struct adding {
    struct injected_files *files;
    const struct profile_scan *scan;
    struct injected_dump *dump;
    uint64_t number; /* of the process's last file */
    struct layout layout;
    struct injected_space space;
    struct epochs epochs;
    struct elf_result *results; /* of the layout's files */
    const char **paths;
    uint64_t *hole_sizes;
    struct injected_sources sources;
};

static bool no_memory(void)
{
    complain("out of memory");
    return false;
}

bool injected_files_open(struct injected_files *files, const struct inject_request *request)
{
    char *folder;
    *files = (struct injected_files){.request = request};
    if (asprintf(&folder, "%s.jit", request->output) < 0)
        return no_memory();
    const bool opened = output_folder_open(&files->folder, folder, request->profile);
    free(folder);
    return opened;
}

void injected_files_free(struct injected_files *files)
{
    output_folder_drop(&files->folder);
    for (uint64_t i = 0; i < files->file_count; i++)
        free(files->paths[i]);
    free(files->paths);
    free(files->mappings);
    jd_ranges_free(&files->holes);
}

static int by_time(const void *left, const void *right)
{
    const struct profile_mapping *const a = left, *const b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void injected_files_sort(struct injected_files *files)
{
    if (files->mapping_count != 0)
        qsort(files->mappings, (size_t)files->mapping_count, sizeof(*files->mappings), by_time);
}

/* Files */

/* jit-4711.elf, jit-4711-2.elf …: how perf shows where a function is. NULL, with a complaint.
 *
 * perf 7.2 takes a file whose name begins with /tmp/jitted- for one of perf inject's, and finds no
 * unwinding data in any other (P30). */
static const char *new_path(struct adding *adding)
{
    static const char special[] = "/tmp/jitted-";
    struct injected_files *const files = adding->files;
    const char *const folder = files->folder.path;
    const bool is_special = strncmp(folder, special, sizeof(special) - 1) == 0;
    char *path, suffix[32] = "";
    if (++adding->number > 1)
        snprintf(suffix, sizeof(suffix), "-%" PRIu64, adding->number);
    char **const grown =
        grow(files->paths, &files->path_capacity, files->file_count + 1, sizeof(*files->paths));
    if (grown != NULL)
        files->paths = grown;
    if (grown == NULL || asprintf(&path, "%s%s/jit-%" PRIu32 "%s.elf",
                                  is_special ? "/" : "", folder, adding->dump->pid, suffix) < 0) {
        no_memory();
        return NULL;
    }
    files->paths[files->file_count++] = path;
    if (strlen(path) < PATH_SIZE_MAX)
        return path;
    complain("%s: the name is too long for perf", path);
    return NULL;
}

/* Where the file's unwinding data go, so that perf's libunwind finds them. */
static bool find_hole(struct adding *adding, const struct layout_file *file,
                      struct elf_options *options)
{
    if (!adding->scan->stack_copies || file->packed)
        return true;
    const struct placed *const last = &file->pieces[file->count - 1];
    const uint64_t begin = file->pieces[0].address / PAGE * PAGE;
    const uint64_t end = last->address + last->piece->code_size;
    const uint64_t size = elf_hole_size(&adding->dump->history, file->pieces, (size_t)file->count);
    if (size == 0)
        return true;
    const uint64_t lowest = end > ELF_HOLE_REACH + PAGE ? end - ELF_HOLE_REACH : PAGE;
    const uint64_t hole = jd_ranges_take_hole(&adding->space.used, lowest, begin, size, PAGE);
    if (hole == 0) {
        complain("%s: no room near %#" PRIx64 " for unwinding data: perf with libunwind shows no "
                 "callers of the code there", adding->dump->path, begin);
        return true;
    }
    options->hole_address = hole;
    options->hole_size = size;
    return jd_ranges_add(&adding->files->holes, hole, hole + size) || no_memory();
}

static bool write_file(struct adding *adding, uint32_t index)
{
    const struct layout_file *const file = &adding->layout.files[index];
    const struct problems problems = {.progress = progress_writing};
    struct elf_options options = {.dynsym = true,
                                  .renamed = &adding->sources.renamed,
                                  .merge_names = adding->files->request->by_name,
                                  .load_address = file->load_address,
                                  .load_end = file->load_end,
                                  .problems = &problems};
    struct elf_result *const result = &adding->results[index];
    const char *const path = new_path(adding);
    if (path == NULL || !find_hole(adding, file, &options))
        return false;
    adding->paths[index] = path;
    adding->hole_sizes[index] = options.hole_size;
    const int fd = output_folder_file(&adding->files->folder, strrchr(path, '/') + 1);
    if (fd < 0)
        return false;
    const enum elf_error error = elf_write(fd, &adding->dump->history, file->pieces,
                                           (size_t)file->count, &options, result);
    progress_end();
    if (error != ELF_OK)
        complain("%s: %s", path,
                 error == ELF_NOT_WRITTEN ? strerror(result->system_error) : elf_strerror(error));
    return close(fd) == 0 && error == ELF_OK;
}

/* Mappings */

/* The first mapping of a file with unwinding data in a hole also maps these. */
static void add_hole(struct adding *adding, const struct profile_mapping *with, uint32_t file)
{
    struct injected_files *const files = adding->files;
    if (adding->hole_sizes[file] == 0 || adding->results[file].frame_size == 0)
        return;
    files->mappings[files->mapping_count++] = (struct profile_mapping){
        .time = with->time,
        .order = with->order,
        .address = adding->results[file].frame_address,
        .size = adding->results[file].frame_size,
        .file_offset = adding->results[file].frame_offset,
        .pid = with->pid,
        .path = with->path,
    };
}

static bool add_mappings(struct adding *adding)
{
    struct injected_files *const files = adding->files;
    const struct layout *const layout = &adding->layout;
    if (layout->mapping_count == 0)
        return true;
    struct profile_mapping *const grown =
        grow(files->mappings, &files->mapping_capacity,
             files->mapping_count + layout->mapping_count + layout->file_count, sizeof(*grown));
    if (grown == NULL)
        return no_memory();
    files->mappings = grown;
    const struct profile_mapping *earliest = NULL;
    for (uint64_t i = 0; i < layout->mapping_count; i++) {
        const struct layout_mapping *const mapping = &layout->mappings[i];
        const bool is_first = i == 0 || mapping->file != mapping[-1].file;
        if (is_first && i != 0)
            add_hole(adding, earliest, mapping[-1].file);
        struct profile_mapping *const added = &grown[files->mapping_count++];
        *added = (struct profile_mapping){
            .time = jd_profile_time(&adding->dump->clock, mapping->time),
            .order = mapping->time,
            .address = mapping->address,
            .size = mapping->size,
            .file_offset = mapping->file_address - adding->results[mapping->file].load_address,
            .pid = adding->dump->pid,
            .path = adding->paths[mapping->file],
        };
        if (is_first || mapping->time < earliest->order)
            earliest = added;
    }
    add_hole(adding, earliest, layout->mappings[layout->mapping_count - 1].file);
    return true;
}

/* A dump */

static bool add(struct adding *adding, const struct injected_dumps *dumps)
{
    struct layout *const layout = &adding->layout;
    const bool stack_copies = adding->scan->stack_copies;
    const struct layout_options options = {
        .layer_max = stack_copies ? 0 : LAYER_MAX,
        .epochs = stack_copies ? &adding->epochs : NULL,
        .occupied = &adding->space.occupied,
        .foreign = &adding->space.foreign,
        .marks = adding->dump->marks->of_life,
        .by_name = adding->files->request->by_name,
        .only_sampled = adding->files->request->only_sampled};
    if (!injected_space_find(&adding->space, adding->scan, dumps, adding->dump,
                             &adding->files->holes) ||
        !injected_sources_write(&adding->sources, &adding->files->folder, adding->dump,
                                adding->number))
        return false;
    if ((stack_copies && !jd_epochs_find(&adding->epochs, &adding->dump->history,
                                         &adding->dump->marks->uses)) ||
        !jd_layout_plan(layout, &adding->dump->history, &options))
        return no_memory();
    adding->paths = calloc(layout->file_count + (size_t)1, sizeof(*adding->paths));
    adding->results = calloc(layout->file_count + (size_t)1, sizeof(*adding->results));
    adding->hole_sizes = calloc(layout->file_count + (size_t)1, sizeof(*adding->hole_sizes));
    if (adding->paths == NULL || adding->results == NULL || adding->hole_sizes == NULL)
        return no_memory();
    for (uint32_t i = 0; i < layout->file_count; i++)
        if (!write_file(adding, i))
            return false;
    adding->dump->file_count = layout->file_count;
    return add_mappings(adding);
}

bool injected_files_add(struct injected_files *files, const struct profile_scan *scan,
                        const struct injected_dumps *dumps, struct injected_dump *dump)
{
    struct adding adding = {.files = files, .scan = scan, .dump = dump};
    for (const struct injected_dump *other = dumps->first; other != dump; other = other->next)
        adding.number += other->pid == dump->pid ? other->file_count : 0;
    const bool added = add(&adding, dumps);
    injected_sources_free(&adding.sources);
    jd_layout_free(&adding.layout);
    jd_epochs_free(&adding.epochs);
    injected_space_free(&adding.space);
    free(adding.results);
    free(adding.paths);
    free(adding.hole_sizes);
    return added;
}
