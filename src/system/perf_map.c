#include "../platform/c_library.h"

#include "perf_map.h"

#include "jitdump.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The longest line; what is left of a longer name is cut. */
#define LINE_SIZE 1024

/* So many bytes of a child's first lines are written at once. */
#define CHILD_LINES_SIZE (4 * LINE_SIZE)

#define FUNCTIONS_SIZE (PERF_MAP_LISTS * sizeof(_Atomic(struct perf_map_function *)))

/* perf looks nowhere else. */
void jd_perf_map_path(uint32_t pid, char path[PERF_MAP_PATH_SIZE])
{
    snprintf(path, PERF_MAP_PATH_SIZE, "/tmp/perf-%u.map", pid);
}

static int create_map(struct perf_map *map, uint32_t pid)
{
    char path[PERF_MAP_PATH_SIZE];
    map->pid = pid;
    jd_perf_map_path(pid, path);
    return jd_new_file_open(path, NEW_FILE_TO_JOIN, map->signal, &map->file) == 0
               ? 0
               : JITDUMP_ERROR_PERF_MAP;
}

static void unlink_map(const struct perf_map *map)
{
    char path[PERF_MAP_PATH_SIZE];
    jd_perf_map_path(map->pid, path);
    jd_new_file_unlink(path, &map->file);
}

int jd_perf_map_open(struct perf_map *map, uint32_t pid, int signal)
{
    map->signal = signal;
    void *functions = mmap(NULL, FUNCTIONS_SIZE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (functions == MAP_FAILED)
        return JITDUMP_ERROR_NO_MEMORY;
    const int error = create_map(map, pid);
    if (error != 0)
        munmap(functions, FUNCTIONS_SIZE);
    else
        map->functions = functions;
    return error;
}

/* What is behind the last whole line names nothing. Of lines that come meanwhile from other
 * threads some may go with it. */
static void cut_to_whole_lines(const struct new_file *file)
{
    char tail[LINE_SIZE];
    struct stat status;
    if (!jd_new_file_is_open(file) || fstat(file->fd, &status) != 0)
        return;
    const off_t at = status.st_size > LINE_SIZE ? status.st_size - LINE_SIZE : 0;
    const ssize_t count = pread(file->fd, tail, sizeof(tail), at);
    ssize_t whole_lines = count;
    while (whole_lines > 0 && tail[whole_lines - 1] != '\n')
        whole_lines--;
    const off_t whole = at + whole_lines;
    while (count > 0 && ftruncate(file->fd, whole) != 0 && errno == EINTR)
        continue;
}

/* Returns the line's size. */
static size_t format_line(char line[LINE_SIZE], uint64_t code_addr, uint64_t code_size,
                          const char *prefix, const char *name, size_t name_size)
{
    /* Cut here too, for more than INT_MAX bytes are an error to snprintf(). */
    const int length = snprintf(line, LINE_SIZE, "%llx %llx %.*s%.*s",
                                (unsigned long long)code_addr, (unsigned long long)code_size,
                                LINE_SIZE, prefix,
                                name_size < LINE_SIZE ? (int)name_size : LINE_SIZE, name);
    size_t size = length < LINE_SIZE ? (size_t)length : LINE_SIZE - 1;
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == '\x7f')
            line[i] = '?';
    line[size++] = '\n';
    return size;
}

/* False: they could not be written, which is the map's error from now on. */
static bool write_gathered(struct perf_map *map, struct perf_map_lines *lines)
{
    const struct iovec bytes = {lines->bytes, lines->size};
    lines->size = 0;
    if (bytes.iov_len == 0)
        return true;
    const size_t written = jd_new_file_append(&map->file, &bytes, 1);
    if (written == bytes.iov_len)
        return true;
    atomic_store_explicit(&map->error, JITDUMP_ERROR_PERF_MAP, memory_order_relaxed);
    if (written != 0 && !map->file.is_joined) /* else what is cut may be the other's */
        cut_to_whole_lines(&map->file);
    return false;
}

/* Writes what is there if a longest line might not fit any more. */
static bool add_line(struct perf_map *map, struct perf_map_lines *lines, uint64_t code_addr,
                     uint64_t code_size, const char *prefix, const char *name, size_t name_size)
{
    if (lines->capacity - lines->size < LINE_SIZE && !write_gathered(map, lines))
        return false;
    lines->size += format_line(lines->bytes + lines->size, code_addr, code_size, prefix, name,
                               name_size);
    return true;
}

static _Atomic(struct perf_map_function *) *find_list(const struct perf_map *map,
                                                      uint64_t code_index)
{
    /* Indices ascend in steps of a record's size: spread by the multiplication, of which the
     * high bits depend on all. */
    return &map->functions[code_index * UINT64_C(0x9e3779b97f4a7c15) >> 48];
}
_Static_assert(PERF_MAP_LISTS == 1 << 16, "the high 16 bits");

/* As much of its name as a line can take. Out of memory, the error is the map's: its moves can't
 * be told any more. */
static void keep_function(struct perf_map *map, uint64_t code_index, uint64_t code_addr,
                          uint64_t code_size, const char *prefix, const char *name,
                          size_t name_size)
{
    const size_t prefix_size = strnlen(prefix, LINE_SIZE);
    name_size = name_size < LINE_SIZE ? name_size : LINE_SIZE;
    struct perf_map_function *kept = malloc(sizeof(*kept) + prefix_size + name_size + 1);
    if (kept == NULL) {
        atomic_store_explicit(&map->error, JITDUMP_ERROR_PERF_MAP, memory_order_relaxed);
        return;
    }
    kept->code_index = code_index;
    atomic_init(&kept->code_addr, code_addr);
    kept->code_size = code_size;
    memcpy(kept->name, prefix, prefix_size);
    memcpy(kept->name + prefix_size, name, name_size);
    kept->name[prefix_size + name_size] = '\0';
    _Atomic(struct perf_map_function *) *const list = find_list(map, code_index);
    kept->next = atomic_load_explicit(list, memory_order_relaxed);
    /* Release pairs with the acquire in jd_perf_map_move(). */
    while (!atomic_compare_exchange_weak_explicit(list, &kept->next, kept, memory_order_release,
                                                  memory_order_relaxed))
        continue;
}

static bool has_failed(const struct perf_map *map)
{
    return atomic_load_explicit(&map->error, memory_order_relaxed) != 0;
}

void jd_perf_map_begin(struct perf_map *map, struct perf_map_lines *lines, uint64_t records_size)
{
    *lines = (struct perf_map_lines){NULL, 0, 0};
    if (has_failed(map))
        return;
    /* A line is shorter than its function's records. */
    lines->capacity = (size_t)records_size + LINE_SIZE;
    lines->bytes = malloc(lines->capacity);
    if (lines->bytes == NULL)
        atomic_store_explicit(&map->error, JITDUMP_ERROR_PERF_MAP, memory_order_relaxed);
}

void jd_perf_map_add(struct perf_map *map, struct perf_map_lines *lines, uint64_t code_index,
                     uint64_t code_addr, uint64_t code_size, const char *prefix, const char *name,
                     size_t name_size)
{
    keep_function(map, code_index, code_addr, code_size, prefix, name, name_size);
    if (lines->bytes != NULL && !has_failed(map))
        add_line(map, lines, code_addr, code_size, prefix, name, name_size);
}

void jd_perf_map_end(struct perf_map *map, struct perf_map_lines *lines)
{
    write_gathered(map, lines);
    free(lines->bytes);
}

void jd_perf_map_load(struct perf_map *map, uint64_t code_index, uint64_t code_addr,
                      uint64_t code_size, const char *prefix, const char *name, size_t name_size)
{
    char line[LINE_SIZE];
    struct perf_map_lines lines = {line, 0, sizeof(line)};
    jd_perf_map_add(map, &lines, code_index, code_addr, code_size, prefix, name, name_size);
    write_gathered(map, &lines);
}

void jd_perf_map_move(struct perf_map *map, uint64_t code_index, uint64_t new_code_addr,
                      uint64_t code_size)
{
    /* Acquire pairs with the release in keep_function(). */
    struct perf_map_function *function =
        atomic_load_explicit(find_list(map, code_index), memory_order_acquire);
    while (function != NULL && function->code_index != code_index)
        function = function->next;
    if (function == NULL)
        return;
    atomic_store_explicit(&function->code_addr, new_code_addr, memory_order_relaxed);
    if (has_failed(map))
        return;
    char line[LINE_SIZE];
    struct perf_map_lines lines = {line, 0, sizeof(line)};
    add_line(map, &lines, new_code_addr, code_size, "", function->name, strlen(function->name));
    write_gathered(map, &lines);
}

/* A line for each function, where it is now. */
static bool write_map_functions(struct perf_map *map)
{
    char bytes[CHILD_LINES_SIZE];
    struct perf_map_lines lines = {bytes, 0, sizeof(bytes)};
    for (uint32_t i = 0; i < PERF_MAP_LISTS; i++) {
        /* The process has one thread, or those that are here wait for this one. */
        const struct perf_map_function *function =
            atomic_load_explicit(&map->functions[i], memory_order_relaxed);
        for (; function != NULL; function = function->next)
            if (!add_line(map, &lines,
                          atomic_load_explicit(&function->code_addr, memory_order_relaxed),
                          function->code_size, "", function->name, strlen(function->name)))
                return false;
    }
    return write_gathered(map, &lines);
}

int jd_perf_map_start_in_child(struct perf_map *map, uint32_t pid)
{
    const int error = create_map(map, pid);
    if (error != 0 || write_map_functions(map))
        return error;
    unlink_map(map);
    jd_new_file_close(&map->file);
    return JITDUMP_ERROR_PERF_MAP;
}

int jd_perf_map_close(struct perf_map *map, bool unlink_it)
{
    if (map->functions == NULL)
        return 0;
    int error = atomic_load_explicit(&map->error, memory_order_relaxed);
    if (unlink_it)
        unlink_map(map);
    if (!jd_new_file_close(&map->file) && error == 0 && !unlink_it)
        error = JITDUMP_ERROR_PERF_MAP;
    for (uint32_t i = 0; i < PERF_MAP_LISTS; i++)
        for (struct perf_map_function *function = map->functions[i], *next; function != NULL;
             function = next) {
            next = function->next;
            free(function);
        }
    munmap((void *)map->functions, FUNCTIONS_SIZE);
    map->functions = NULL;
    return error;
}
