#include "../platform/c_library.h"

#include "perf_map.h"

#include "jitdump.h"
#include "new_file.h"
#include "write_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The longest line; what is left of a longer name is cut. */
#define LINE_SIZE 1024

#define NAMES_SIZE (PERF_MAP_LISTS * sizeof(_Atomic(struct perf_map_name *)))

/* perf looks nowhere else. */
void jd_perf_map_path(uint32_t pid, char path[PERF_MAP_PATH_SIZE])
{
    snprintf(path, PERF_MAP_PATH_SIZE, "/tmp/perf-%u.map", pid);
}

static int create(uint32_t pid, char path[PERF_MAP_PATH_SIZE], int *fd)
{
    jd_perf_map_path(pid, path);
    return jd_new_file_open(path, fd) == 0 ? 0 : JITDUMP_ERROR_PERF_MAP;
}

int jd_perf_map_open(struct perf_map *map, uint32_t pid)
{
    void *names = mmap(NULL, NAMES_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0);
    if (names == MAP_FAILED)
        return JITDUMP_ERROR_NO_MEMORY;
    char path[PERF_MAP_PATH_SIZE];
    const int error = create(pid, path, &map->fd);
    if (error != 0) {
        munmap(names, NAMES_SIZE);
        return error;
    }
    map->names = names;
    map->pid = pid;
    return 0;
}

/* What is behind the last whole line names nothing. Of lines that come meanwhile from other
 * threads some may go with it. */
static void cut_to_whole_lines(int fd)
{
    char tail[LINE_SIZE];
    struct stat status;
    if (fstat(fd, &status) != 0)
        return;
    const off_t at = status.st_size > LINE_SIZE ? status.st_size - LINE_SIZE : 0;
    const ssize_t count = pread(fd, tail, sizeof(tail), at);
    const char *const newline = count > 0 ? memrchr(tail, '\n', (size_t)count) : NULL;
    const off_t whole = newline != NULL ? at + (newline - tail) + 1 : at;
    while (count > 0 && ftruncate(fd, whole) != 0 && errno == EINTR)
        continue;
}

static void write_line(struct perf_map *map, uint64_t code_addr, uint64_t code_size,
                       const char *prefix, const char *name)
{
    if (atomic_load_explicit(&map->error, memory_order_relaxed) != 0)
        return;
    char line[LINE_SIZE];
    /* Cut here too, for more than INT_MAX bytes are an error to snprintf(). */
    const int length = snprintf(line, sizeof(line), "%llx %llx %.*s%.*s",
                                (unsigned long long)code_addr, (unsigned long long)code_size,
                                LINE_SIZE, prefix, LINE_SIZE, name);
    size_t size = length < LINE_SIZE ? (size_t)length : LINE_SIZE - 1;
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == '\x7f')
            line[i] = '?';
    line[size++] = '\n';

    const struct iovec bytes = {line, size};
    const size_t written = jd_write_all(map->fd, &bytes, 1);
    if (written == size) {
        atomic_fetch_add_explicit(&map->size, size, memory_order_relaxed);
        return;
    }
    atomic_store_explicit(&map->error, JITDUMP_ERROR_PERF_MAP, memory_order_relaxed);
    if (written != 0)
        cut_to_whole_lines(map->fd);
}

static _Atomic(struct perf_map_name *) *find_list(const struct perf_map *map, uint64_t code_index)
{
    /* Indices ascend in steps of a record's size: spread by the multiplication, of which the
     * high bits depend on all. */
    return &map->names[code_index * UINT64_C(0x9e3779b97f4a7c15) >> 48];
}
_Static_assert(PERF_MAP_LISTS == 1 << 16, "the high 16 bits");

/* As much of it as a line can take. Out of memory, the error is the map's: its moves can't be told
 * any more. */
static void keep_name(struct perf_map *map, uint64_t code_index, const char *prefix,
                      const char *name)
{
    const size_t prefix_size = strnlen(prefix, LINE_SIZE), name_size = strnlen(name, LINE_SIZE);
    struct perf_map_name *kept = malloc(sizeof(*kept) + prefix_size + name_size + 1);
    if (kept == NULL) {
        atomic_store_explicit(&map->error, JITDUMP_ERROR_PERF_MAP, memory_order_relaxed);
        return;
    }
    kept->code_index = code_index;
    memcpy(kept->name, prefix, prefix_size);
    memcpy(kept->name + prefix_size, name, name_size);
    kept->name[prefix_size + name_size] = '\0';
    _Atomic(struct perf_map_name *) *const list = find_list(map, code_index);
    kept->next = atomic_load_explicit(list, memory_order_relaxed);
    /* Release pairs with the acquire in jd_perf_map_move(). */
    while (!atomic_compare_exchange_weak_explicit(list, &kept->next, kept, memory_order_release,
                                                  memory_order_relaxed))
        continue;
}

void jd_perf_map_load(struct perf_map *map, uint64_t code_index, uint64_t code_addr,
                      uint64_t code_size, const char *prefix, const char *name)
{
    keep_name(map, code_index, prefix, name);
    write_line(map, code_addr, code_size, prefix, name);
}

void jd_perf_map_move(struct perf_map *map, uint64_t code_index, uint64_t new_code_addr,
                      uint64_t code_size)
{
    /* Acquire pairs with the release in keep_name(). */
    const struct perf_map_name *name =
        atomic_load_explicit(find_list(map, code_index), memory_order_acquire);
    while (name != NULL && name->code_index != code_index)
        name = name->next;
    if (name != NULL)
        write_line(map, new_code_addr, code_size, "", name->name);
}

/* The whole lines among the first `size` bytes: at the fork, another thread may have been
 * between its write and its count. `copied` receives their size. */
static int copy(int to, int from, uint64_t size, uint64_t *copied)
{
    char bytes[4096];
    for (uint64_t at = 0; at < size;) {
        const uint64_t left = size - at;
        const ssize_t count =
            pread(from, bytes, left < sizeof(bytes) ? (size_t)left : sizeof(bytes), (off_t)at);
        if (count < 0 && errno == EINTR)
            continue;
        const struct iovec piece = {bytes, count > 0 ? (size_t)count : 0};
        if (count <= 0 || jd_write_all(to, &piece, 1) != piece.iov_len)
            return JITDUMP_ERROR_PERF_MAP;
        at += (uint64_t)count;
    }
    cut_to_whole_lines(to);
    struct stat status;
    if (fstat(to, &status) != 0)
        return JITDUMP_ERROR_PERF_MAP;
    *copied = (uint64_t)status.st_size;
    return 0;
}

int jd_perf_map_start_in_child(struct perf_map *map, uint32_t pid)
{
    char path[PERF_MAP_PATH_SIZE];
    int fd;
    int error = create(pid, path, &fd);
    if (error != 0)
        return error;
    uint64_t copied;
    error = copy(fd, map->fd, atomic_load_explicit(&map->size, memory_order_relaxed), &copied);
    if (error != 0) {
        jd_new_file_unlink(path, fd);
        close(fd);
        return error;
    }
    /* A child of this child copies as much, and its own lines. */
    atomic_store_explicit(&map->size, copied, memory_order_relaxed);
    close(map->fd);
    map->fd = fd;
    map->pid = pid;
    return 0;
}

int jd_perf_map_close(struct perf_map *map, uint32_t unlink_pid)
{
    if (map->names == NULL)
        return 0;
    int error = atomic_load_explicit(&map->error, memory_order_relaxed);
    const bool unlink_it = map->pid == unlink_pid;
    if (unlink_it) {
        char path[PERF_MAP_PATH_SIZE];
        jd_perf_map_path(map->pid, path);
        jd_new_file_unlink(path, map->fd);
    }
    if (map->pid != (uint32_t)getpid())
        close(map->fd); /* the lock is the parent's */
    else if (!jd_new_file_close(map->fd) && error == 0 && !unlink_it)
        error = JITDUMP_ERROR_PERF_MAP;
    for (uint32_t i = 0; i < PERF_MAP_LISTS; i++)
        for (struct perf_map_name *name = map->names[i], *next; name != NULL; name = next) {
            next = name->next;
            free(name);
        }
    munmap((void *)map->names, NAMES_SIZE);
    map->names = NULL;
    return error;
}
