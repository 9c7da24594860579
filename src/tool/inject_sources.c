#define _GNU_SOURCE
#include "platform/c_library.h"

#include "tool/inject_sources.h"

#include "tool/messages.h"

#include "reader/decode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 200 };

static bool no_memory(void)
{
    complain("out of memory");
    return false;
}

/* The last part of the path, as a file's name. */
static void name_of(struct span path, char name[NAME_MAX_BYTES + 1])
{
    uint64_t begin = path.size;
    while (begin > 0 && path.data[begin - 1] != '/')
        begin--;
    const uint64_t size = path.size - begin < NAME_MAX_BYTES ? path.size - begin : NAME_MAX_BYTES;
    for (uint64_t i = 0; i < size; i++)
        name[i] = path.data[begin + i] < ' ' ? '?' : (char)path.data[begin + i];
    name[size] = 0;
    if (size == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        strcpy(name, "source");
}

static bool write_text(int fd, struct span text)
{
    uint64_t done = 0;
    while (done < text.size) {
        const ssize_t written = write(fd, text.data + done, (size_t)(text.size - done));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        done += (uint64_t)written;
    }
    return true;
}

/* Adds the file's name to the list. False: out of memory. */
static bool write_source(struct injected_sources *sources, struct output_folder *folder,
                         const char *place, const struct source_record *source)
{
    char name[NAME_MAX_BYTES + 1], *inside, *path;
    name_of(source->path, name);
    if (asprintf(&inside, "%s/%" PRIu32 "/%s", place, sources->renamed.count + 1, name) < 0)
        return no_memory();
    const int fd = output_folder_file(folder, inside);
    bool written = fd >= 0 && write_text(fd, source->text);
    if (fd >= 0 && (close(fd) != 0 || !written)) {
        complain("%s: %s", inside, strerror(errno));
        written = false;
    }
    const bool has_path = asprintf(&path, "%s/%s", folder->path, inside) >= 0;
    free(inside);
    if (!has_path)
        return no_memory();
    if (written)
        sources->files[sources->renamed.count++] = (struct renamed_file){
            source->path, {(const unsigned char *)path, strlen(path)}};
    else
        free(path);
    return true;
}

static int by_path(const void *left, const void *right)
{
    const struct renamed_file *const a = left, *const b = right;
    return compare_spans(a->path, b->path);
}

bool injected_sources_write(struct injected_sources *sources, struct output_folder *folder,
                            const struct injected_dump *dump, uint64_t number)
{
    const struct history *const history = &dump->history;
    char place[64];
    *sources = (struct injected_sources){
        .files = calloc(history->source_count + (size_t)1, sizeof(*sources->files))};
    if (sources->files == NULL)
        return no_memory();
    sources->renamed.of = sources->files;
    snprintf(place, sizeof(place), "jit-%" PRIu32 ".source/%" PRIu64, dump->pid, number + 1);
    for (uint32_t i = 0; i < history->source_count; i++) {
        struct dump_record record;
        struct source_record source;
        struct problem problem;
        if (jd_dump_reader_at(&history->reader, history->sources[i], &record) &&
            jd_decode_source(&history->reader, &record, &source, &problem) &&
            !write_source(sources, folder, place, &source))
            return false;
    }
    if (sources->renamed.count != 0)
        qsort(sources->files, sources->renamed.count, sizeof(*sources->files), by_path);
    return true;
}

void injected_sources_free(struct injected_sources *sources)
{
    for (uint32_t i = 0; i < sources->renamed.count; i++)
        free((char *)(uintptr_t)sources->files[i].file.data);
    free(sources->files);
}
