#define _GNU_SOURCE
#include "tool/inject_dumps.h"

#include "tool/inject_find.h"
#include "tool/input.h"
#include "tool/messages.h"
#include "tool/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct searching {
    struct injected_dumps *dumps;
    struct injected_dump **last;
    struct dump_search search;
};

/* Clocks */

static void tell_clock(const struct injected_dump *dump)
{
    switch (dump->clock.kind) {
    case CLOCK_INFERRED:
        complain("%s: the profile has another clock (perf record -k mono was not given): the times "
                 "are fitted by the dump's mapping, to some microseconds, or milliseconds on a busy machine",
                 dump->path);
        break;
    case CLOCK_ROUGH:
        complain("%s: the profile has another clock (perf record -k mono was not given), and the "
                 "dump does not say when it was opened: the times are fitted roughly", dump->path);
        break;
    case CLOCK_UNKNOWN:
        complain("%s: the dump's times can't be told in the profile's clock (%s): addresses that were "
                 "used again have the last function's name", dump->path,
                 (dump->history.reader.header.flags & JITDUMP_FLAGS_ARCH_TIMESTAMP) != 0
                     ? "it has no conversion of TSC times"
                     : "perf record -k mono was not given, and the process ran before");
        break;
    default:
        break;
    }
}

/* What is wrong with records is told by `jitdump check`. */
static void count_problem(void *context, uint64_t offset, const char *reason)
{
    uint64_t *const count = context;
    (void)offset;
    (void)reason;
    ++*count;
}

/* `mapping` is the dump's; without a process of its own if it has none. False: it can't be read. */
static bool read_dump(struct searching *searching, struct injected_dump *dump,
                      const struct scanned_mapping *mapping)
{
    uint64_t problem_count = 0;
    const struct problems problems = {count_problem, &problem_count, progress_reading};
    if (!open_file(&dump->file, dump->path))
        return false;
    if (!read_history(&dump->history, &dump->file, dump->path, &problems))
        return false;
    if (problem_count != 0)
        complain("%s: %" PRIu64 " records can't be read; 'jitdump check' lists them", dump->path,
                 problem_count);
    dump->pid = mapping->pid != 0 ? mapping->pid : dump->history.reader.header.pid;
    dump->clock = jd_profile_clock(searching->search.scan, searching->search.data, &dump->history, mapping);
    tell_clock(dump);
    return true;
}

/* Takes the path, which is NULL if memory ran out. */
static bool add_dump(struct searching *searching, char *path, const struct scanned_mapping *mapping)
{
    struct injected_dump *const dump = calloc(1, sizeof(*dump));
    if (path == NULL || dump == NULL) {
        complain("out of memory");
        free(path);
        free(dump);
        return false;
    }
    dump->path = path;
    if (read_dump(searching, dump, mapping)) {
        *searching->last = dump;
        searching->last = &dump->next;
        return true;
    }
    /* Of a dump that was named and can't be read, nobody knows whose it is. */
    if (mapping->pid != 0)
        complain("%s: process %" PRIu32 " is left without names", path, mapping->pid);
    searching->dumps->missing++;
    jd_history_free(&dump->history);
    jd_mapped_file_close(&dump->file);
    free(path);
    free(dump);
    return true;
}

/* perf record --overwrite keeps samples of a process whose mappings are lost. */
static bool has_samples(const struct perf_data *data, uint32_t pid)
{
    struct perf_data events = *data;
    struct perf_event event;
    struct perf_sample sample;
    struct problem problem;
    jd_perf_data_rewind(&events);
    while (jd_perf_data_next(&events, &event))
        if (event.type == PERF_EVENT_SAMPLE && jd_perf_sample(&events, &event, &sample, &problem) &&
            sample.stamp.pid == pid)
            return true;
    return false;
}

static bool is_in_profile(const struct dump_search *search, uint32_t pid)
{
    uint64_t count;
    jd_scan_mappings(search->scan, pid, &count);
    return count != 0 || has_samples(search->data, pid);
}

static bool add_found(struct searching *searching, const struct scanned_mapping *mapping)
{
    char *path = NULL;
    if (find_dump(&searching->search, mapping, &path) != FOUND_SEVERAL)
        return add_dump(searching, path, mapping);
    complain("%s: several processes had a dump of this name, and nothing tells which is that of process "
             "%" PRIu32 ", which is left without names: --pid %" PRIu32 " and its dump do",
             (const char *)mapping->name.data, mapping->pid, mapping->pid);
    searching->dumps->missing++;
    return true;
}

/* By --pid. */
static bool is_named(const struct inject_request *request, uint32_t pid)
{
    for (uint32_t i = 0; i < request->dump_count; i++)
        if (request->dump_pids[i] == pid && pid != 0)
            return true;
    return false;
}

static bool add_all(struct searching *searching)
{
    const struct profile_scan *const scan = searching->search.scan;
    const struct inject_request *const request = searching->search.request;
    for (uint64_t i = 0; i < scan->dump_count; i++) {
        const struct scanned_mapping *const mapping = &scan->dumps[i];
        if (is_named(request, mapping->pid))
            continue; /* the request says which */
        if (!add_found(searching, mapping))
            return false;
    }
    for (uint32_t i = 0; i < request->dump_count; i++) {
        if (searching->search.used[i])
            continue;
        struct scanned_mapping mapping = {.pid = request->dump_pids[i]};
        for (uint64_t of = 0; of < scan->dump_count; of++)
            if (scan->dumps[of].pid == mapping.pid)
                mapping = scan->dumps[of];
        if (!add_dump(searching, strdup(request->dumps[i]), &mapping))
            return false;
    }
    for (const struct injected_dump *dump = searching->dumps->first; dump != NULL;
         dump = dump->next) {
        if (is_in_profile(&searching->search, dump->pid))
            continue;
        complain("%s: the profile has no process %" PRIu32 "; --pid says which it is", dump->path,
                 dump->pid);
        searching->dumps->missing++;
    }
    return true;
}

bool injected_dumps_read(struct injected_dumps *dumps, const struct inject_request *request,
                         const struct profile_scan *scan, const struct perf_data *data)
{
    *dumps = (struct injected_dumps){0};
    struct searching searching = {.dumps = dumps,
                                  .last = &dumps->first,
                                  .search = {.request = request, .scan = scan, .data = data}};
    searching.search.used = calloc(request->dump_count + (size_t)1, sizeof(bool));
    if (searching.search.used == NULL) {
        complain("out of memory");
        return false;
    }
    const bool read = add_all(&searching);
    free(searching.search.used);
    return read;
}

void injected_dumps_free(struct injected_dumps *dumps)
{
    while (dumps->first != NULL) {
        struct injected_dump *const dump = dumps->first;
        dumps->first = dump->next;
        jd_history_free(&dump->history);
        jd_mapped_file_close(&dump->file);
        free(dump->path);
        free(dump);
    }
}
