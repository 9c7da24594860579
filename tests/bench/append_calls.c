/*
 * For test_append_calls.py, which counts the system calls: appends between two marks, which
 * are writes to no file, and prints how many allocations it counted between them and how
 * much memory the dump has taken.
 *
 * usage: append_calls FLUSH_MODE DIRECTORY
 */
#define _GNU_SOURCE
#include "jitdump.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WARM_UP = 2, APPENDS = 100 };

static int allocations;

/* The linker's --wrap has the program's and the static library's calls come here. */
#define COUNTING(function, parameters, arguments)   \
    void *__real_##function parameters;             \
    void *__wrap_##function parameters;             \
    void *__wrap_##function parameters              \
    {                                               \
        allocations++;                              \
        return __real_##function arguments;         \
    }
COUNTING(malloc, (size_t size), (size))
COUNTING(calloc, (size_t count, size_t size), (count, size))
COUNTING(realloc, (void *memory, size_t size), (memory, size))

static void check(int failed, const char *what)
{
    if (failed) {
        perror(what);
        exit(1);
    }
}

static struct jitdump *dump;

static void append(int count)
{
    static const struct jitdump_line lines[2] = {{0x1000, 1, 1, "a.c"}, {0x1010, 2, 1, "a.c"}};
    static const unsigned char code_bytes[64];
    static const struct jitdump_code code = {.struct_size = sizeof(code),
                                             .name = "function",
                                             .code_addr = 0x1000,
                                             .code_size = sizeof(code_bytes),
                                             .code_bytes = code_bytes,
                                             .lines = lines,
                                             .line_count = 2};
    uint64_t code_index;
    for (int i = 0; i < count; i++)
        check(jitdump_load(dump, &code, &code_index) != 0, "jitdump_load");
}

static void mark(void)
{
    check(write(-1, "mark", 4) >= 0, "a write to no file");
}

/* In KiB. Not the pages of files: how much of the libraries' code is there depends on what else
 * the machine has done. */
static long resident_memory(void)
{
    long size = -1;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    check(file == NULL, "/proc/self/smaps_rollup");
    for (char line[128]; fgets(line, sizeof(line), file) != NULL;)
        sscanf(line, "Anonymous: %ld", &size);
    fclose(file);
    return size;
}

int main(int argc, char **argv)
{
    check(argc != 3, "usage: append_calls FLUSH_MODE DIRECTORY");
    const struct jitdump_options options = {.struct_size = sizeof(options),
                                            .flags = JITDUMP_UNLINK_AT_CLOSE,
                                            .flush_mode = (uint32_t)atoi(argv[1]),
                                            .flush_interval_ns = UINT64_C(3600000000000),
                                            .directory = argv[2]};
    resident_memory(); /* takes memory itself the first time */
    const long before = resident_memory();
    check(jitdump_open(&dump, &options) != 0, "jitdump_open");
    append(WARM_UP);

    const int allocated = allocations;
    mark();
    append(APPENDS);
    mark();
    printf("allocations %d\n", allocations - allocated);

    append(4000); /* through every block */
    printf("resident %ld\n", resident_memory() - before);
    check(jitdump_close(dump) != 0, "jitdump_close");
    return 0;
}
