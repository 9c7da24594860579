#include "tool/parent_dumps.h"

#include "tool/record_processes.h"

#include "inject/profile_scan.h"
#include "reader/read_history.h"

#include <stdio.h>
#include <stdlib.h>

static const struct record_process *find(const struct record_processes *processes, uint32_t pid)
{
    for (size_t i = 0; i < processes->count; i++)
        if (processes->list[i].pid == pid)
            return &processes->list[i];
    return NULL;
}

/* The process of the dump: a container's has another pid in the profile. */
static const struct record_process *find_owner(const struct record_processes *processes,
                                               uint32_t dump_pid)
{
    for (size_t i = 0; i < processes->count; i++)
        if (processes->list[i].dump.data != NULL &&
            jd_scan_dump_pid(processes->list[i].dump) == dump_pid)
            return &processes->list[i];
    return NULL;
}

static bool open_dump(struct mapped_file *file, struct span where, const char *beside)
{
    char path[4096], other[8192];
    const char *const end = strrchr(beside, '/');
    snprintf(path, sizeof(path), "%.*s", (int)where.size, (const char *)where.data);
    if (jd_mapped_file_open(file, path) == 0)
        return true;
    const char *const name = strrchr(path, '/');
    snprintf(other, sizeof(other), "%.*s%s", end != NULL ? (int)(end - beside + 1) : 0, beside,
             name != NULL ? name + 1 : path);
    return jd_mapped_file_open(file, other) == 0;
}

/* False: out of memory. */
static bool add(struct parent_dumps *dumps, const struct record_process *process, const char *beside)
{
    struct mapped_file *const file = &dumps->files[dumps->count];
    struct history *const history = &dumps->histories[dumps->count];
    const struct problems problems = {0};
    if (!open_dump(file, process->dump, beside))
        return true;
    const enum history_error error = jd_history_read(history, file, &problems);
    if (error == HISTORY_OK)
        dumps->code[dumps->count++] =
            (struct inherited_code){.history = history, .pid = process->pid};
    else
        jd_mapped_file_close(file);
    return error != HISTORY_NO_MEMORY;
}

bool parent_dumps_open(struct parent_dumps *dumps, const char *path, uint32_t pid,
                       struct perf_data *data)
{
    struct record_processes processes;
    dumps->count = 0;
    /* What can't be read of the profile, whoever checks it will say. */
    record_processes_read(&processes, data);
    const struct record_process *process = find_owner(&processes, pid);
    bool enough = true;
    for (unsigned generation = 1; process != NULL && generation < VIEW_ANCESTORS && enough;
         generation++) {
        process = find(&processes, process->parent);
        if (process != NULL && process->dump.data != NULL)
            enough = add(dumps, process, path);
    }
    record_processes_free(&processes);
    return enough;
}

void parent_dumps_close(struct parent_dumps *dumps)
{
    for (uint32_t i = 0; i < dumps->count; i++) {
        jd_history_free(&dumps->histories[i]);
        jd_mapped_file_close(&dumps->files[i]);
        free(dumps->code[i].of_piece);
    }
}
