#include "tool/record_processes.h"

#include "inject/profile_scan.h"

#include <stdlib.h>

static struct record_process *find(const struct record_processes *processes, uint32_t pid)
{
    size_t low = 0, high = processes->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (processes->list[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return &processes->list[low];
}

/* The process, which is added if it is new. NULL: out of memory. Processes are few beside samples. */
static struct record_process *process_of(struct record_processes *processes, uint32_t pid)
{
    struct record_process *place = processes->list != NULL ? find(processes, pid) : NULL;
    const size_t index = place != NULL ? (size_t)(place - processes->list) : 0;
    if (index < processes->count && place->pid == pid)
        return place;
    if ((processes->count & (processes->count - 1)) == 0) {
        const size_t room = processes->count != 0 ? 2 * processes->count : 1;
        void *const list = realloc(processes->list, room * sizeof(*processes->list));
        if (list == NULL)
            return NULL;
        processes->list = list;
    }
    memmove(&processes->list[index + 1], &processes->list[index],
            (processes->count - index) * sizeof(*processes->list));
    processes->list[index] = (struct record_process){.pid = pid};
    processes->count++;
    return &processes->list[index];
}

static bool take(struct record_processes *processes, struct perf_data *data,
                 const struct perf_event *event)
{
    struct problem problem;
    struct perf_mapping mapping;
    struct perf_sample sample;
    struct perf_task task;
    struct record_process *process = NULL;
    switch (event->type) {
    case PERF_EVENT_MMAP:
    case PERF_EVENT_MMAP2:
        if (!jd_perf_mapping(data, event, &mapping, &problem))
            return false;
        if (!mapping.executable || jd_scan_dump_pid(mapping.name) == 0)
            return true;
        process = process_of(processes, mapping.pid);
        if (process != NULL)
            process->dump = mapping.name;
        return process != NULL;
    case PERF_EVENT_FORK:
        if (!jd_perf_task(data, event, &task, &problem))
            return false;
        if (task.pid == task.parent_pid)
            return true;
        process = process_of(processes, task.pid);
        if (process != NULL)
            process->parent = task.parent_pid;
        return process != NULL;
    case PERF_EVENT_SAMPLE:
        if (!jd_perf_sample(data, event, &sample, &problem))
            return false;
        processes->samples++;
        if (!sample.user)
            return true;
        process = process_of(processes, sample.stamp.pid);
        if (process != NULL)
            process->samples++;
        return process != NULL;
    default:
        return true;
    }
}

bool record_processes_read(struct record_processes *processes, struct perf_data *data)
{
    struct perf_event event;
    *processes = (struct record_processes){0};
    jd_perf_data_rewind(data);
    while (jd_perf_data_next(data, &event))
        if (!take(processes, data, &event))
            return false;
    return data->end == PERF_DATA_ENDS;
}

void record_processes_free(struct record_processes *processes)
{
    free(processes->list);
    *processes = (struct record_processes){0};
}

bool record_process_has_dump(const struct record_processes *processes,
                             const struct record_process *process)
{
    /* No longer than there are processes, whatever a broken profile says of parents. */
    for (size_t i = 0; i < processes->count; i++) {
        if (process->dump.data != NULL)
            return true;
        const struct record_process *const parent = find(processes, process->parent);
        if (parent == processes->list + processes->count || parent->pid != process->parent)
            return false;
        process = parent;
    }
    return false;
}
