#include "inject/profile_scan.h"

#include "reader/grow.h"
#include "reader/sort.h"
#include "writers/described_texts.h"

void jd_profile_scan_free(struct profile_scan *scan)
{
    free(scan->mappings);
    free(scan->by_file);
    jd_forks_free(&scan->forks);
    free(scan->names);
    free(scan->dumps);
    *scan = (struct profile_scan){0};
}

/* Names */

/* What stands between the two in the last part of the path; empty if they are not there. */
static struct span between(struct span name, const char *prefix, const char *suffix)
{
    const size_t front = strlen(prefix), back = strlen(suffix);
    uint64_t begin = name.size;
    while (begin > 0 && name.data[begin - 1] != '/')
        begin--;
    const struct span base = {name.data + begin, name.size - begin};
    if (base.size <= front + back || memcmp(base.data, prefix, front) != 0 ||
        memcmp(base.data + base.size - back, suffix, back) != 0)
        return (struct span){0};
    return (struct span){base.data + front, base.size - front - back};
}

uint32_t jd_scan_dump_pid(struct span name)
{
    const struct span digits = between(name, "jit-", ".dump");
    uint64_t pid = 0;
    for (uint64_t i = 0; i < digits.size; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9')
            return 0;
        pid = 10 * pid + (uint64_t)(digits.data[i] - '0');
        if (pid > INT32_MAX)
            return 0;
    }
    return (uint32_t)pid;
}

/* jitted-PID-INDEX.so: what perf inject may have put into the profile before, an ELF file of each function. */
static bool is_of_perf_inject(struct span name)
{
    const struct span numbers = between(name, "jitted-", ".so");
    unsigned dashes = 0;
    for (uint64_t i = 0; i < numbers.size; i++) {
        if (numbers.data[i] == '-')
            dashes++;
        else if (numbers.data[i] < '0' || numbers.data[i] > '9')
            return false;
    }
    return dashes == 1;
}

/* Events */

static bool add_mapping(struct scanned_mapping **mappings, uint64_t *count, uint64_t *capacity,
                        const struct scanned_mapping *mapping)
{
    struct scanned_mapping *const grown = grow(*mappings, capacity, *count + 1, sizeof(*grown));
    if (grown == NULL)
        return false;
    *mappings = grown;
    grown[(*count)++] = *mapping;
    return true;
}

/* A mapping that was there before is told without its time; if it is seen to be made, that counts. */
static bool add_dump(struct profile_scan *scan, const struct scanned_mapping *mapping)
{
    for (uint64_t i = 0; i < scan->dump_count; i++) {
        struct scanned_mapping *const known = &scan->dumps[i];
        if (!of_one_file(known, mapping))
            continue;
        if (known->time == 0)
            *known = *mapping;
        return true;
    }
    return add_mapping(&scan->dumps, &scan->dump_count, &scan->dump_capacity, mapping);
}

static enum scan_error take_mapping(struct profile_scan *scan, const struct perf_data *data,
                                    const struct perf_event *event, struct problem *problem)
{
    struct perf_mapping mapping;
    if (!jd_perf_mapping(data, event, &mapping, problem))
        return SCAN_UNREADABLE;
    const struct scanned_mapping scanned = {
        .time = mapping.stamp.time == UINT64_MAX ? 0 : mapping.stamp.time,
        .begin = mapping.address,
        .end = mapping.size <= UINT64_MAX - mapping.address ? mapping.address + mapping.size
                                                            : UINT64_MAX,
        .offset = event->offset,
        .pid = mapping.pid,
        .executable = mapping.executable,
        .of_file = !jd_perf_is_anonymous(mapping.name) && !is_of_perf_inject(mapping.name),
        .file = mapping.file,
        .name = mapping.name,
    };
    if (!add_mapping(&scan->mappings, &scan->mapping_count, &scan->mapping_capacity, &scanned))
        return SCAN_NO_MEMORY;
    if (mapping.executable && jd_scan_dump_pid(mapping.name) != 0 && !add_dump(scan, &scanned))
        return SCAN_NO_MEMORY;
    return SCAN_OK;
}

static enum scan_error take_fork(struct profile_scan *scan, const struct perf_data *data,
                                 const struct perf_event *event, struct problem *problem)
{
    struct perf_task task;
    if (!jd_perf_task(data, event, &task, problem))
        return SCAN_UNREADABLE;
    if (task.pid == task.parent_pid)
        return SCAN_OK; /* a thread */
    const struct fork_event fork = {task.stamp.time, task.pid, task.parent_pid};
    return jd_forks_add(&scan->forks, &fork) ? SCAN_OK : SCAN_NO_MEMORY;
}

/* One that can't be read costs a name, not the profile. */
static enum scan_error take_name(struct profile_scan *scan, const struct perf_data *data,
                                 const struct perf_event *event)
{
    struct cursor cursor = jd_perf_event_cursor(data, event);
    const uint32_t pid = cursor_u32(&cursor, "");
    const uint32_t tid = cursor_u32(&cursor, "");
    const struct span name = cursor_string(&cursor, "");
    if (cursor.error != NULL || pid != tid)
        return SCAN_OK;
    struct scanned_name *const grown =
        grow(scan->names, &scan->name_capacity, scan->name_count + 1, sizeof(*grown));
    if (grown == NULL)
        return SCAN_NO_MEMORY;
    scan->names = grown;
    const uint64_t time = jd_perf_event_time(data, event);
    grown[scan->name_count++] = (struct scanned_name){
        time != UINT64_MAX ? time : 0, pid, (event->misc & PERF_MISC_COMM_EXEC) != 0, name};
    return SCAN_OK;
}

static enum scan_error take_event(struct profile_scan *scan, const struct perf_data *data,
                                  const struct perf_event *event, struct problem *problem)
{
    switch (event->type) {
    case PERF_EVENT_MMAP:
    case PERF_EVENT_MMAP2:
        return take_mapping(scan, data, event, problem);
    case PERF_EVENT_FORK:
        return take_fork(scan, data, event, problem);
    case PERF_EVENT_COMM:
        return take_name(scan, data, event);
    case PERF_EVENT_TIME_CONV:
        scan->conversion = jd_perf_conversion(data, event);
        return SCAN_OK;
    default:
        return SCAN_OK;
    }
}

static int by_file(const void *left, const void *right)
{
    const struct scanned_mapping *const a = *(struct scanned_mapping *const *)left;
    const struct scanned_mapping *const b = *(struct scanned_mapping *const *)right;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    const int order = compare_spans(a->name, b->name);
    if (order != 0)
        return order;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static bool sort_by_file(struct profile_scan *scan)
{
    scan->by_file = malloc((size_t)(scan->mapping_count + 1) * sizeof(*scan->by_file));
    if (scan->by_file == NULL)
        return false;
    for (uint64_t i = 0; i < scan->mapping_count; i++)
        scan->by_file[i] = &scan->mappings[i];
    sort(scan->by_file, scan->mapping_count, sizeof(*scan->by_file), by_file);
    return true;
}

static void find_code(struct profile_scan *scan)
{
    struct scanned_mapping **const mappings = scan->by_file;
    for (uint64_t begin = 0, end; begin < scan->mapping_count; begin = end) {
        bool executable = false;
        for (end = begin; end < scan->mapping_count && of_one_file(mappings[begin], mappings[end]); end++)
            executable = executable || mappings[end]->executable;
        for (uint64_t i = begin; i < end; i++)
            mappings[i]->of_code = mappings[i]->of_file ? executable : mappings[i]->executable;
    }
}

enum scan_error jd_profile_scan(struct profile_scan *scan, struct perf_data *data)
{
    struct problem problem = {0};
    struct perf_event event;
    *scan = (struct profile_scan){.has_times = true};
    for (uint32_t i = 0; i < data->attr_count; i++) {
        const uint64_t type = data->attrs[i].sample_type;
        scan->stack_copies = scan->stack_copies || (type & PERF_SAMPLE_STACK_USER) != 0;
        scan->has_times = scan->has_times && (type & PERF_SAMPLE_TIME) != 0;
    }
    jd_perf_data_rewind(data);
    while (jd_perf_data_next(data, &event)) {
        const enum scan_error error = take_event(scan, data, &event, &problem);
        if (error == SCAN_UNREADABLE) {
            data->reason = problem.reason;
            data->offset = problem.offset;
        }
        if (error != SCAN_OK)
            return error;
    }
    if (data->end == PERF_DATA_BROKEN)
        return SCAN_UNREADABLE;
    if (!sort_by_file(scan) || !jd_forks_settle(&scan->forks))
        return SCAN_NO_MEMORY;
    find_code(scan);
    return SCAN_OK;
}

/* Address spaces */

static bool occupies(const struct scanned_mapping *mapping, enum scan_occupied by)
{
    switch (by) {
    case OCCUPIED_BY_FILES:
        return mapping->of_file;
    case OCCUPIED_BY_CODE:
        return mapping->of_code;
    default:
        return mapping->of_code && mapping->of_file && jd_scan_dump_pid(mapping->name) == 0;
    }
}

/* How many of by_file are of lower pids, or of this one too. */
static uint64_t count_pids(const struct profile_scan *scan, uint32_t pid, bool with_it)
{
    uint64_t low = 0, high = scan->mapping_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (scan->by_file[middle]->pid < pid || (with_it && scan->by_file[middle]->pid == pid))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct scanned_mapping *const *jd_scan_mappings(const struct profile_scan *scan, uint32_t pid,
                                                uint64_t *count)
{
    const uint64_t first = count_pids(scan, pid, false);
    *count = count_pids(scan, pid, true) - first;
    return scan->by_file + first;
}

static bool add_own(const struct profile_scan *scan, uint32_t pid, uint64_t until,
                    enum scan_occupied by, struct ranges *occupied)
{
    uint64_t count;
    struct scanned_mapping *const *const mappings = jd_scan_mappings(scan, pid, &count);
    for (uint64_t i = 0; i < count; i++)
        if (mappings[i]->time <= until && occupies(mappings[i], by) &&
            !jd_ranges_add(occupied, mappings[i]->begin, mappings[i]->end))
            return false;
    return true;
}

bool jd_scan_descends(const struct profile_scan *scan, uint32_t pid, uint32_t ancestor)
{
    for (unsigned generation = 0; pid != ancestor; generation++) {
        const struct fork_event *const from = jd_forks_find(&scan->forks, pid);
        if (from == NULL || generation == SCAN_ANCESTORS)
            return false;
        pid = from->parent;
    }
    return true;
}

bool jd_scan_occupied(const struct profile_scan *scan, uint32_t pid, enum scan_occupied by,
                      struct ranges *occupied)
{
    uint64_t until = UINT64_MAX;
    for (unsigned generation = 0; generation < SCAN_ANCESTORS; generation++) {
        if (!add_own(scan, pid, until, by, occupied))
            return false;
        const struct fork_event *const from = jd_forks_find(&scan->forks, pid);
        if (from == NULL)
            return true;
        pid = from->parent;
        until = from->time;
    }
    return true;
}
