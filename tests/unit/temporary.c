#define _GNU_SOURCE
#include "temporary.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <ftw.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *directory;

int make_temporary_directory(void **state)
{
    char template[] = "/tmp/jitdump-test-XXXXXX";
    if (mkdtemp(template) == NULL)
        return -1;
    *state = realpath(template, NULL);
    directory = *state;
    return directory == NULL ? -1 : 0;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

int remove_temporary_directory(void **state)
{
    const int result = nftw(*state, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    free(*state);
    return result;
}

const char *dump_path(const char *in, pid_t pid)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/jit-%ld.dump", in, (long)pid);
    return path;
}

const char *perf_map_path(pid_t pid)
{
    static char path[64];
    snprintf(path, sizeof(path), "/tmp/perf-%ld.map", (long)pid);
    return path;
}

struct contents read_file(const char *path)
{
    struct contents contents = {NULL, 0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    contents.size = (size_t)ftell(file);
    rewind(file);
    contents.bytes = malloc(contents.size + 1);
    assert_non_null(contents.bytes);
    assert_int_equal(fread(contents.bytes, 1, contents.size, file), contents.size);
    fclose(file);
    return contents;
}

void *map_repeated(size_t size)
{
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const int chunk = memfd_create("chunk", 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(ftruncate(chunk, REPEATED_SIZE), 0);
    for (size_t at = 0; at < size; at += REPEATED_SIZE)
        assert_ptr_equal(mmap(memory + at, REPEATED_SIZE, PROT_READ | PROT_WRITE,
                              MAP_FIXED | (at == 0 ? MAP_SHARED : MAP_PRIVATE), chunk, 0),
                         memory + at);
    close(chunk);
    return memory;
}

/* Whether the thread, one of this process, waits for something. */
static bool sleeps(const char *thread)
{
    char path[PATH_MAX], state = 'S';
    snprintf(path, sizeof(path), "/proc/self/task/%s/stat", thread);
    FILE *file = fopen(path, "r");
    if (file == NULL) /* it has ended */
        return true;
    const bool read = fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
    fclose(file);
    return !read || state == 'S';
}

void wait_until_others_sleep(void)
{
    const long self = syscall(SYS_gettid);
    DIR *threads = opendir("/proc/self/task");
    assert_non_null(threads);
    for (bool all_sleep = false; !all_sleep; rewinddir(threads)) {
        all_sleep = true;
        for (struct dirent *thread; (thread = readdir(threads)) != NULL;)
            if (thread->d_name[0] != '.' && strtol(thread->d_name, NULL, 10) != self &&
                !sleeps(thread->d_name)) {
                all_sleep = false;
                sched_yield();
            }
    }
    closedir(threads);
}

int count_entries(const char *in)
{
    int count = 0;
    DIR *entries = opendir(in);
    assert_non_null(entries);
    while (readdir(entries) != NULL)
        count++;
    closedir(entries);
    return count - 2; /* "." and ".." */
}

void make_old(const char *path)
{
    const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
}

int count_descriptors(void)
{
    return count_entries("/proc/self/fd") - 1; /* the one that reads */
}

int count_mappings(const char *path, const char *permission)
{
    int count = 0;
    char line[PATH_MAX + 128];
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps) != NULL) {
        char permissions[8] = "";
        sscanf(line, "%*s %7s", permissions);
        count += strstr(line, path) != NULL && strstr(permissions, permission) != NULL;
    }
    fclose(maps);
    return count;
}

uint64_t mapped_bytes(void)
{
    uint64_t bytes = 0, start, end;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fscanf(maps, "%" SCNx64 "-%" SCNx64 "%*[^\n]", &start, &end) == 2)
        bytes += end - start;
    fclose(maps);
    return bytes;
}
