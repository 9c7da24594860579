/*
 * Threads append to one dump in each flush mode, through the public interface; then the file
 * must have every record, whole, in the order of times, and each thread's in its own order.
 * Built with yielding_atomics.h, by hand for other processors (aarch64.sh), without a test
 * framework for that reason.
 *
 * usage: test_interleave DIRECTORY [APPENDS]
 */
#define _GNU_SOURCE
#include "jitdump.h"
#include "format/records.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 6, FLUSH_BYTES = 4096, SIZE_MAX_SMALL = 1500 };

static unsigned appends = 4000;
static struct jitdump *dump;

static void check(int good, const char *what)
{
    if (!good) {
        printf("FAILED: %s\n", what);
        exit(1);
    }
}

/* Which bytes append `i` of a thread has: now and then more than a block takes. */
static size_t code_size(unsigned thread, unsigned i)
{
    return i % 64 == thread ? 3 * FLUSH_BYTES : 1 + (i * 37 + thread * 101) % SIZE_MAX_SMALL;
}

static int fill(unsigned thread, unsigned i)
{
    return (int)((thread * 31 + i * 7) % 256);
}

static void *append_all(void *argument)
{
    const unsigned thread = (unsigned)(uintptr_t)argument;
    unsigned char bytes[3 * FLUSH_BYTES];
    uint64_t before = 0;
    for (unsigned i = 0; i < appends; i++) {
        char name[32];
        snprintf(name, sizeof(name), "%u %u", thread, i);
        const size_t size = code_size(thread, i);
        memset(bytes, fill(thread, i), size);
        const struct jitdump_line line = {0x1000, 1, 1, "file.c"};
        const struct jitdump_code code = {.struct_size = sizeof(code),
                                          .name = name,
                                          .code_addr = 0x1000,
                                          .code_size = size,
                                          .code_bytes = bytes,
                                          .lines = &line,
                                          .line_count = i % 2};
        uint64_t index;
        check(jitdump_load(dump, &code, &index) == 0, "jitdump_load");
        check(index > before, "indices of a thread ascend");
        before = index;
        if (i % 100 == 50)
            check(jitdump_flush(dump) == 0, "jitdump_flush");
    }
    return NULL;
}

static void check_load(const unsigned char *at, uint32_t total_size, unsigned seen[THREADS])
{
    struct jit_code_load load;
    memcpy(&load, at, sizeof(load));
    const char *const name = (const char *)at + sizeof(load);
    unsigned thread, i;
    check(sscanf(name, "%u %u", &thread, &i) == 2 && thread < THREADS, "a name");
    check(i == seen[thread]++, "a thread's records are in its order, and all there");
    check(load.code_size == code_size(thread, i), "code_size");
    check(total_size == sizeof(load) + strlen(name) + 1 + load.code_size, "total_size");
    const unsigned char *const bytes = at + total_size - load.code_size;
    for (size_t j = 0; j < load.code_size; j++)
        check(bytes[j] == fill(thread, i), "a byte of the code");
}

static void check_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    check(file != NULL && fseek(file, 0, SEEK_END) == 0, path);
    const size_t size = (size_t)ftell(file);
    rewind(file);
    unsigned char *const bytes = malloc(size);
    check(bytes != NULL && fread(bytes, 1, size, file) == size, path);
    fclose(file);

    unsigned seen[THREADS] = {0};
    uint64_t time = 0;
    struct jit_record_header header;
    for (size_t at = sizeof(struct jitdump_file_header); at < size; at += header.total_size) {
        check(size - at >= sizeof(header), "a whole record header");
        memcpy(&header, bytes + at, sizeof(header));
        check(header.total_size >= sizeof(header) && header.total_size <= size - at,
              "a whole record");
        check(header.timestamp >= time, "times ascend");
        time = header.timestamp;
        if (header.id == JIT_CODE_LOAD)
            check_load(bytes + at, header.total_size, seen);
    }
    for (int i = 0; i < THREADS; i++)
        check(seen[i] == appends, "every record is there");
    free(bytes);
}

static void run(const char *directory, uint32_t flush_mode)
{
    const struct jitdump_options options = {.struct_size = sizeof(options),
                                            .flush_mode = flush_mode,
                                            .flush_bytes = FLUSH_BYTES,
                                            .flush_interval_ns = 200000,
                                            .directory = directory};
    check(jitdump_open(&dump, &options) == 0, "jitdump_open");
    char path[4096];
    snprintf(path, sizeof(path), "%s", jitdump_path(dump));
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        check(pthread_create(&threads[i], NULL, append_all, (void *)i) == 0, "pthread_create");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    check(jitdump_close(dump) == 0, "jitdump_close");
    check_file(path);
    remove(path);
}

int main(int argc, char **argv)
{
    check(argc >= 2, "usage: test_interleave DIRECTORY [APPENDS]");
    if (argc > 2)
        appends = (unsigned)atoi(argv[2]);
    for (uint32_t mode = JITDUMP_FLUSH_WRITE_THROUGH; mode <= JITDUMP_FLUSH_BACKGROUND; mode++) {
        run(argv[1], mode);
        printf("ok   flush mode %u: %d threads x %u appends\n", mode, THREADS, appends);
        fflush(stdout);
    }
    return 0;
}
