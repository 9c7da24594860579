#define _GNU_SOURCE
#include "writers.h"

#include "format/records.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK_SIZE = 64 << 10 };

void check(int failed, const char *what)
{
    if (failed) {
        perror(what);
        exit(1);
    }
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint32_t thread_id(void)
{
    static _Thread_local uint32_t id;
    if (id == 0)
        id = (uint32_t)syscall(SYS_gettid);
    return id;
}

/* What all but the library's own modes have in common */

struct file {
    int fd;
    FILE *stream; /* or NULL */
    pthread_mutex_t lock;
    uint64_t code_index;
};

static struct jitdump_file_header file_header(void)
{
    return (struct jitdump_file_header){.magic = JITDUMP_MAGIC,
                                        .version = JITDUMP_FILE_VERSION,
                                        .total_size = sizeof(struct jitdump_file_header),
                                        .pid = (uint32_t)getpid(),
                                        .timestamp = now()};
}

static void *file_open(const char *directory)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/jit-%d.dump", directory, (int)getpid());
    struct file *file = calloc(1, sizeof(*file));
    check(file == NULL, "calloc");
    file->fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    check(file->fd < 0, path);
    pthread_mutex_init(&file->lock, NULL);
    const struct jitdump_file_header header = file_header();
    check(write(file->fd, &header, sizeof(header)) != sizeof(header), "write");
    return file;
}

static void file_close(void *state)
{
    struct file *file = state;
    check((file->stream != NULL ? fclose(file->stream) : close(file->fd)) != 0, "close");
    pthread_mutex_destroy(&file->lock);
    free(file);
}

static struct jit_code_load load_record(struct file *file, const struct jitdump_code *code,
                                        size_t name_size, uint64_t timestamp)
{
    return (struct jit_code_load){
        .header = {JIT_CODE_LOAD,
                   (uint32_t)(sizeof(struct jit_code_load) + name_size + code->code_size),
                   timestamp},
        .pid = (uint32_t)getpid(),
        .tid = thread_id(),
        .vma = code->code_addr,
        .code_addr = code->code_addr,
        .code_size = code->code_size,
        .code_index = ++file->code_index};
}

/* The entry `i` of a table that is closed as the library closes it. */
static struct debug_entry line_entry(const struct jitdump_code *code, uint64_t i, const char **name)
{
    const struct jitdump_line *line = &code->lines[i < code->line_count ? i : code->line_count - 1];
    *name = line->file;
    return (struct debug_entry){i < code->line_count ? line->code_addr
                                                     : code->code_addr + code->code_size,
                                line->line, line->column};
}

static struct jit_code_debug_info lines_record(const struct jitdump_code *code, uint64_t timestamp)
{
    size_t size = sizeof(struct jit_code_debug_info);
    for (uint64_t i = 0; i <= code->line_count; i++) {
        const char *name;
        line_entry(code, i, &name);
        size += sizeof(struct debug_entry) + strlen(name) + 1;
    }
    return (struct jit_code_debug_info){.header = {JIT_CODE_DEBUG_INFO, (uint32_t)size, timestamp},
                                        .code_addr = code->code_addr,
                                        .nr_entry = code->line_count + 1};
}

/* The parts of the code's records, one after the other. Inlined where it is used, so that
 * `put_part` costs no call of its own. */
static inline void put_records(struct file *file, const struct jitdump_code *code,
                               uint64_t timestamp,
                               void (*put_part)(struct file *, const void *, size_t))
{
    const size_t name_size = strlen(code->name) + 1;
    if (code->line_count != 0) {
        const struct jit_code_debug_info lines = lines_record(code, timestamp);
        put_part(file, &lines, sizeof(lines));
        for (uint64_t i = 0; i <= code->line_count; i++) {
            const char *name;
            const struct debug_entry entry = line_entry(code, i, &name);
            put_part(file, &entry, sizeof(entry));
            put_part(file, name, strlen(name) + 1);
        }
    }
    const struct jit_code_load load = load_record(file, code, name_size, timestamp);
    put_part(file, &load, sizeof(load));
    put_part(file, code->name, name_size);
    put_part(file, code->code_bytes, (size_t)code->code_size);
}

static void put_to_stream(struct file *file, const void *bytes, size_t size)
{
    check(fwrite(bytes, size, 1, file->stream) != 1, "fwrite");
}

static void put_to_descriptor(struct file *file, const void *bytes, size_t size)
{
    check(write(file->fd, bytes, size) != (ssize_t)size, "write");
}

/* Limit (a): the bytes of the record, encoded beforehand, are copied into the thread's own
 * block, the clock is read, and a full block is written. */

static unsigned char *encoded;
static size_t encoded_size;

static _Thread_local unsigned char block[BLOCK_SIZE];
static _Thread_local size_t used;

static void write_block(struct file *file)
{
    check(write(file->fd, block, used) != (ssize_t)used, "write");
    used = 0;
}

static void copy(struct file *file, uint64_t timestamp)
{
    const unsigned char *from = encoded;
    size_t left = encoded_size;
    while (left > BLOCK_SIZE - used) {
        const size_t step = BLOCK_SIZE - used;
        memcpy(block + used, from, step);
        used = BLOCK_SIZE;
        from += step;
        left -= step;
        write_block(file);
    }
    memcpy(block + used, from, left);
    if (left >= sizeof(struct jit_record_header))
        memcpy(block + used + offsetof(struct jit_record_header, timestamp), &timestamp,
               sizeof(timestamp));
    used += left;
}

static void copy_append(void *state, const struct jitdump_code *code)
{
    (void)code;
    copy(state, now());
}

/* Limit (a) with what an order without locks takes at the least: a compare-and-swap around the
 * clock reading, and an addition that says that the copy is there. */
static void ordered_append(void *state, const struct jitdump_code *code)
{
    static _Alignas(64) _Atomic uint64_t cursor;
    static _Alignas(64) _Atomic uint32_t committed;
    uint64_t from = atomic_load_explicit(&cursor, memory_order_acquire);
    uint64_t timestamp;
    do {
        timestamp = now();
    } while (!atomic_compare_exchange_weak_explicit(&cursor, &from, from + encoded_size,
                                                    memory_order_seq_cst, memory_order_acquire));
    copy(state, timestamp);
    (void)code;
    atomic_fetch_add_explicit(&committed, (uint32_t)encoded_size, memory_order_seq_cst);
}

/* Limit (b): the same number of bytes is written, and nothing else done. */
static void write_append(void *state, const struct jitdump_code *code)
{
    (void)code;
    for (size_t left = encoded_size; left != 0;) {
        const size_t step = left < BLOCK_SIZE - used ? left : BLOCK_SIZE - used;
        used += step;
        left -= step;
        if (used == BLOCK_SIZE)
            write_block(state);
    }
}

static void limit_finish_thread(void *state)
{
    write_block(state);
}

/* A mutex and stdio, as V8, CPython and perf's agent for Java. V8 asks for a buffer of 2 MiB in
 * this way, but glibc does not look at the size when it is given no buffer: it writes 4 KiB at
 * a time. */

static void *stdio_open(const char *directory)
{
    struct file *file = file_open(directory);
    file->stream = fdopen(file->fd, "w");
    check(file->stream == NULL, "fdopen");
    setvbuf(file->stream, NULL, _IOFBF, 2 << 20);
    return file;
}

static void stdio_append(void *state, const struct jitdump_code *code)
{
    struct file *file = state;
    pthread_mutex_lock(&file->lock);
    put_records(file, code, now(), put_to_stream);
    pthread_mutex_unlock(&file->lock);
}

/* A mutex and one writev per record, as CoreCLR; it has no lines: theirs are put together in
 * memory, as its other bytes are. */
static void writev_append(void *state, const struct jitdump_code *code)
{
    struct file *file = state;
    const size_t name_size = strlen(code->name) + 1;
    pthread_mutex_lock(&file->lock);
    const uint64_t timestamp = now();
    if (code->line_count != 0) {
        const struct jit_code_debug_info lines = lines_record(code, timestamp);
        unsigned char *const bytes = malloc(lines.header.total_size);
        check(bytes == NULL, "malloc");
        unsigned char *to = bytes;
        memcpy(to, &lines, sizeof(lines));
        to += sizeof(lines);
        for (uint64_t i = 0; i <= code->line_count; i++) {
            const char *name;
            const struct debug_entry entry = line_entry(code, i, &name);
            memcpy(to, &entry, sizeof(entry));
            to = (unsigned char *)stpcpy((char *)to + sizeof(entry), name) + 1;
        }
        check(write(file->fd, bytes, lines.header.total_size) != (ssize_t)lines.header.total_size,
              "write");
        free(bytes);
    }
    const struct jit_code_load load = load_record(file, code, name_size, timestamp);
    const struct iovec parts[3] = {{(void *)(uintptr_t)&load, sizeof(load)},
                                   {(void *)(uintptr_t)code->name, name_size},
                                   {(void *)(uintptr_t)code->code_bytes, (size_t)code->code_size}};
    check(writev(file->fd, parts, 3) != (ssize_t)load.header.total_size, "writev");
    pthread_mutex_unlock(&file->lock);
}

/* A mutex and an unbuffered write for each part of a record, as wasmtime. */

static void writes_append(void *state, const struct jitdump_code *code)
{
    struct file *file = state;
    pthread_mutex_lock(&file->lock);
    put_records(file, code, now(), put_to_descriptor);
    pthread_mutex_unlock(&file->lock);
}

/* This library */

static void *library_open(const char *directory, uint32_t flush_mode)
{
    struct jitdump *dump;
    char message[256];
    const struct jitdump_options options = {.struct_size = sizeof(options),
                                            .flush_mode = flush_mode,
                                            .dialect = JITDUMP_DIALECT_SAMPLY_2026,
                                            .directory = directory,
                                            .error_message = message,
                                            .error_message_size = sizeof(message)};
    if (jitdump_open(&dump, &options) != 0) {
        fprintf(stderr, "%s\n", message);
        exit(1);
    }
    return dump;
}

static void *write_through_open(const char *directory)
{
    return library_open(directory, JITDUMP_FLUSH_WRITE_THROUGH);
}

static void *buffered_open(const char *directory)
{
    return library_open(directory, JITDUMP_FLUSH_BUFFERED);
}

static void *background_open(const char *directory)
{
    return library_open(directory, JITDUMP_FLUSH_BACKGROUND);
}

static void library_append(void *state, const struct jitdump_code *code)
{
    uint64_t code_index;
    check(jitdump_load(state, code, &code_index) != 0, "jitdump_load");
}

static void library_close(void *state)
{
    check(jitdump_close(state) != 0, "jitdump_close");
}

size_t writers_prepare(const char *directory, const struct jitdump_code *code)
{
    struct jitdump *dump = buffered_open(directory);
    library_append(dump, code);
    check(jitdump_flush(dump) != 0, "jitdump_flush");
    FILE *file = fopen(jitdump_path(dump), "rb");
    check(file == NULL, jitdump_path(dump));
    check(fseek(file, 0, SEEK_END) != 0, "fseek");
    encoded_size = (size_t)ftell(file) - sizeof(struct jitdump_file_header);
    check(fseek(file, sizeof(struct jitdump_file_header), SEEK_SET) != 0, "fseek");
    free(encoded);
    encoded = malloc(encoded_size);
    check(encoded == NULL || fread(encoded, encoded_size, 1, file) != 1, "fread");
    fclose(file);
    check(unlink(jitdump_path(dump)) != 0, "unlink");
    library_close(dump);
    return encoded_size;
}

const struct writer writers[] = {
    {"limit-copy", file_open, copy_append, limit_finish_thread, file_close, true},
    {"limit-ordered", file_open, ordered_append, limit_finish_thread, file_close, true},
    {"limit-write", file_open, write_append, limit_finish_thread, file_close, true},
    {"mutex-stdio", stdio_open, stdio_append, NULL, file_close, false},
    {"writev-each", file_open, writev_append, NULL, file_close, false},
    {"writes-each", file_open, writes_append, NULL, file_close, false},
    {"buffered", buffered_open, library_append, NULL, library_close, true},
    {"background", background_open, library_append, NULL, library_close, true},
    {"write-through", write_through_open, library_append, NULL, library_close, true},
};
const size_t writer_count = sizeof(writers) / sizeof(writers[0]);
