#include "check/process_view.h"

#include "reader/sort.h"

#include <stdio.h>
#include <stdlib.h>

struct reading {
    struct process_view *view;
    struct perf_data *data;
    uint32_t mapping_room, sample_room;
    struct problem problem;
};

/* Whether the last part of the name is `base`. */
static bool is_called(struct span name, const char *base)
{
    const size_t size = strlen(base);
    return name.size >= size && memcmp(name.data + name.size - size, base, size) == 0 &&
           (name.size == size || name.data[name.size - size - 1] == '/');
}

static struct viewed_mapping viewed(const struct perf_event *event,
                                    const struct perf_mapping *mapping)
{
    const uint64_t size = mapping->size <= UINT64_MAX - mapping->address
                              ? mapping->size
                              : UINT64_MAX - mapping->address;
    /* perf gives what ran before it no time, or 0. */
    const uint64_t time = mapping->stamp.time == UINT64_MAX ? 0 : mapping->stamp.time;
    return (struct viewed_mapping){time,          mapping->address,  mapping->address + size,
                                   event->offset, mapping->name, mapping->executable};
}

/* The first pass: who is it, and whose child */

static bool find_process(struct reading *reading, const struct perf_event *event,
                         const char *dump_name)
{
    struct process_view *const view = reading->view;
    struct perf_mapping mapping;
    if (event->type == PERF_EVENT_COMPRESSED || event->type == PERF_EVENT_COMPRESSED2)
        view->compressed = true;
    if (view->pid != 0 || (event->type != PERF_EVENT_MMAP && event->type != PERF_EVENT_MMAP2))
        return true;
    if (!jd_perf_mapping(reading->data, event, &mapping, &reading->problem))
        return false;
    if (mapping.executable && is_called(mapping.name, dump_name)) {
        view->dump = viewed(event, &mapping);
        view->pid = mapping.pid;
    }
    return true;
}

/* Whether the process has begun another program, with nothing in its memory of what it was forked from. */
static bool has_executed(const struct perf_data *data, const struct perf_event *event, uint32_t pid)
{
    struct cursor cursor = jd_perf_event_cursor(data, event);
    return (event->misc & PERF_MISC_COMM_EXEC) != 0 && cursor_u32(&cursor, "") == pid &&
           cursor.error == NULL;
}

/* Events are not strictly in order: the fork of a parent may come later in the file. So each
 * step looks from the start. */
static bool find_parent(struct reading *reading)
{
    struct process_view *const view = reading->view;
    const uint32_t pid = view->ancestors[view->ancestor_count - 1].pid;
    struct viewed_ancestor parent = {0};
    struct perf_event event;
    struct perf_task task;
    jd_perf_data_rewind(reading->data);
    while (jd_perf_data_next(reading->data, &event)) {
        if (event.type == PERF_EVENT_COMM && has_executed(reading->data, &event, pid))
            return true;
        if (event.type != PERF_EVENT_FORK || parent.pid != 0)
            continue;
        if (!jd_perf_task(reading->data, &event, &task, &reading->problem))
            return false;
        if (task.pid == pid && task.parent_pid != pid)
            parent = (struct viewed_ancestor){task.parent_pid, task.stamp.time};
    }
    if (parent.pid != 0 && view->ancestor_count < VIEW_ANCESTORS)
        view->ancestors[view->ancestor_count++] = parent;
    return true;
}

/* The second pass: its mappings and samples */

static void *grow(void *array, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return array;
    const uint32_t more = *room < 64 ? 64 : *room <= UINT32_MAX / 2 ? *room * 2 : 0;
    void *const grown = more != 0 ? realloc(array, more * size) : NULL;
    if (grown != NULL)
        *room = more;
    return grown;
}

static bool add_mapping(struct reading *reading, const struct viewed_mapping *mapping)
{
    struct process_view *const view = reading->view;
    void *const grown = grow(view->mappings, view->mapping_count, &reading->mapping_room,
                             sizeof(*view->mappings));
    if (grown == NULL)
        return false;
    view->mappings = grown;
    view->mappings[view->mapping_count++] = *mapping;
    return true;
}

static bool add_sample(struct reading *reading, const struct perf_sample *sample)
{
    struct process_view *const view = reading->view;
    void *const grown =
        grow(view->samples, view->sample_count, &reading->sample_room, sizeof(*view->samples));
    if (grown == NULL)
        return false;
    view->samples = grown;
    view->samples[view->sample_count++] =
        (struct viewed_sample){sample->stamp.time, sample->ip, sample->chain};
    return true;
}

static bool is_recent(const struct reading *reading, uint32_t pid, uint64_t time)
{
    const struct process_view *const view = reading->view;
    for (uint32_t i = 0; i < view->ancestor_count; i++)
        if (view->ancestors[i].pid == pid && time <= view->ancestors[i].until)
            return true;
    return false;
}

static enum view_error take_event(struct reading *reading, const struct perf_event *event)
{
    struct process_view *const view = reading->view;
    struct perf_mapping mapping;
    struct perf_sample sample;
    switch (event->type) {
    case PERF_EVENT_MMAP:
    case PERF_EVENT_MMAP2:
        if (!jd_perf_mapping(reading->data, event, &mapping, &reading->problem))
            return VIEW_UNREADABLE;
        {
            const struct viewed_mapping seen = viewed(event, &mapping);
            if (is_recent(reading, mapping.pid, seen.time) && !add_mapping(reading, &seen))
                return VIEW_NO_MEMORY;
        }
        return VIEW_OK;
    case PERF_EVENT_SAMPLE:
        if (!jd_perf_sample(reading->data, event, &sample, &reading->problem))
            return VIEW_UNREADABLE;
        view->stack_copies = view->stack_copies || sample.has_stack;
        if (sample.stamp.pid == view->pid && sample.user && sample.stamp.time != UINT64_MAX &&
            !add_sample(reading, &sample))
            return VIEW_NO_MEMORY;
        return VIEW_OK;
    case PERF_EVENT_LOST: {
        struct cursor cursor = jd_perf_event_cursor(reading->data, event);
        cursor_u64(&cursor, ""); /* the event's id */
        view->lost += cursor_u64(&cursor, "");
        return VIEW_OK;
    }
    case PERF_EVENT_TIME_CONV:
        view->conversion = jd_perf_conversion(reading->data, event);
        return VIEW_OK;
    default:
        return VIEW_OK;
    }
}

static int mappings_by_time(const void *left, const void *right)
{
    const struct viewed_mapping *const a = left, *const b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int samples_by_time(const void *left, const void *right)
{
    const struct viewed_sample *const a = left, *const b = right;
    return a->time < b->time ? -1 : a->time > b->time;
}

/* Where each lies from when on. */
static bool index_mappings(struct process_view *view)
{
    view->places = malloc(((size_t)view->mapping_count + 1) * sizeof(*view->places));
    if (view->places == NULL)
        return false;
    for (uint32_t i = 0; i < view->mapping_count; i++) {
        const struct viewed_mapping *const mapping = &view->mappings[i];
        view->places[i] = (struct indexed_life){mapping->begin, mapping->end, mapping->time, UINT64_MAX};
    }
    return jd_life_index_init(&view->index, view->places, view->mapping_count);
}

static enum view_error read_view(struct reading *reading, uint32_t dump_pid)
{
    struct process_view *const view = reading->view;
    struct perf_event event;
    char dump_name[32];
    snprintf(dump_name, sizeof(dump_name), "jit-%u.dump", dump_pid);
    jd_perf_data_rewind(reading->data);
    while (jd_perf_data_next(reading->data, &event))
        if (!find_process(reading, &event, dump_name))
            return VIEW_UNREADABLE;

    view->ancestors[0] =
        (struct viewed_ancestor){view->pid != 0 ? view->pid : dump_pid, UINT64_MAX};
    uint32_t known = 0;
    for (view->ancestor_count = 1; known != view->ancestor_count;) {
        known = view->ancestor_count;
        if (known < VIEW_ANCESTORS && !find_parent(reading))
            return VIEW_UNREADABLE;
    }
    view->pid = view->ancestors[0].pid;
    jd_perf_data_rewind(reading->data);
    while (jd_perf_data_next(reading->data, &event)) {
        const enum view_error error = take_event(reading, &event);
        if (error != VIEW_OK)
            return error;
    }
    sort(view->mappings, view->mapping_count, sizeof(*view->mappings), mappings_by_time);
    sort(view->samples, view->sample_count, sizeof(*view->samples), samples_by_time);
    if (reading->data->end == PERF_DATA_BROKEN)
        return VIEW_UNREADABLE;
    return index_mappings(view) ? VIEW_OK : VIEW_NO_MEMORY;
}

enum view_error jd_process_view_read(struct process_view *view, struct perf_data *data,
                                     uint32_t dump_pid)
{
    *view = (struct process_view){0};
    struct reading reading = {.view = view, .data = data};
    const enum view_error error = read_view(&reading, dump_pid);
    if (error == VIEW_UNREADABLE && reading.problem.reason != NULL) {
        data->reason = reading.problem.reason;
        data->offset = reading.problem.offset;
    }
    return error;
}

void jd_process_view_free(struct process_view *view)
{
    jd_life_index_free(&view->index);
    free(view->places);
    free(view->mappings);
    free(view->samples);
    *view = (struct process_view){0};
}

const struct viewed_mapping *jd_process_view_at(const struct process_view *view, uint64_t time,
                                                uint64_t address)
{
    const uint32_t last =
        jd_life_index_last(&view->index, jd_life_index_leaf(&view->index, address), time);
    return last != UINT32_MAX ? &view->mappings[last] : NULL;
}
