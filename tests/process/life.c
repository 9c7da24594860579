#define _GNU_SOURCE
#include "life.h"

#include "format/records.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

const uint32_t modes[MODES] = {JITDUMP_FLUSH_WRITE_THROUGH, JITDUMP_FLUSH_BUFFERED,
                               JITDUMP_FLUSH_BACKGROUND};

struct jitdump *life_open(uint32_t flush_mode, uint32_t flags)
{
    const struct jitdump_options options = {.struct_size = sizeof(options),
                                            .flags = flags,
                                            .flush_mode = flush_mode,
                                            .flush_interval_ns = UINT64_C(3600000000000),
                                            .directory = directory};
    struct jitdump *dump;
    jitdump_open(&dump, &options);
    return dump;
}

int life_load(struct jitdump *dump, const char *name)
{
    const struct jitdump_line line = {0x1000, 1, 1, "file"};
    const struct jitdump_code code = {.struct_size = sizeof(code),
                                      .name = name,
                                      .code_addr = 0x1000,
                                      .code_size = 4,
                                      .code_bytes = "code",
                                      .lines = &line,
                                      .line_count = 1};
    return jitdump_load(dump, &code, NULL);
}

/* Calls `see` for each record of the dump. False: there is none. */
static bool for_each_record(pid_t pid, void (*see)(const struct jit_record_header *header,
                                                   const unsigned char *record, void *context),
                            void *context)
{
    const char *path = dump_path(directory, pid);
    if (access(path, F_OK) != 0)
        return false;
    struct contents contents = read_file(path);
    size_t at = sizeof(struct jitdump_file_header);
    assert_true(contents.size >= at);
    while (at < contents.size) {
        struct jit_record_header header;
        assert_true(contents.size - at >= sizeof(header));
        memcpy(&header, contents.bytes + at, sizeof(header));
        assert_in_range(header.total_size, sizeof(header), contents.size - at);
        see(&header, contents.bytes + at, context);
        at += header.total_size;
    }
    free(contents.bytes);
    return true;
}

struct count {
    const char *name;
    int found;
};

static void count_load(const struct jit_record_header *header, const unsigned char *record,
                       void *context)
{
    struct count *count = context;
    if (header->id == JIT_CODE_LOAD)
        count->found +=
            strcmp((const char *)record + sizeof(struct jit_code_load), count->name) == 0;
}

int count_loads(pid_t pid, const char *name)
{
    struct count count = {.name = name};
    return for_each_record(pid, count_load, &count) ? count.found : -1;
}

static void see_close(const struct jit_record_header *header, const unsigned char *record,
                      void *context)
{
    (void)record;
    *(bool *)context = header->id == JIT_CODE_CLOSE;
}

bool is_closed(pid_t pid)
{
    bool closed = false;
    return for_each_record(pid, see_close, &closed) && closed;
}

void *mmap_shared(size_t size)
{
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    return memory;
}

void skip_where_parents_cannot_have_threads(void)
{
    if (SANITIZED) {
        print_message("skipped: sanitizers can't be with busy threads in a parent\n");
        skip();
    }
}

static int count_flushers(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        char path[300], name[32] = "";
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL) /* ".", "..", or a thread that has ended meanwhile */
            continue;
        count += fgets(name, sizeof(name), file) != NULL && strcmp(name, "jitdump\n") == 0;
        fclose(file);
    }
    closedir(tasks);
    return count;
}

void wait_for_flushers(int count)
{
    while (count_flushers() != count)
        sched_yield(); /* for ever if they don't end: CTest's limit ends that */
}
