#include "inject/undescribed.h"

#include "reader/life_index.h"
#include "reader/sort.h"

/* A program that a process runs, with what is mapped in the meantime. */
struct program {
    uint32_t pid;
    uint64_t since;
    bool executed;    /* at `since`; else the process began with it */
    struct span name; /* the last; NULL: that of the process that it was forked from */
    uint64_t named_at;
    bool has_dump;    /* from `dump_from` on, the first one's time */
    uint64_t dump_from;
    bool is_described; /* it has a dump, or what it was forked from had one then */

    struct scanned_mapping **mappings; /* by time */
    uint64_t count;
    bool generates; /* some of them are of generated code */
    struct indexed_life *places; /* of the mappings; NULL: nobody has asked yet */
    struct life_index index;

    enum { MAP_NOT_LOOKED_FOR, MAP_IS_THERE, MAP_IS_NOT_THERE } perf_map;
    uint64_t samples;
};

struct searching {
    const struct profile_scan *scan;
    bool (*has_perf_map)(uint32_t pid);
    struct scanned_mapping **mappings; /* those of a process together, and by time */
    struct program *programs; /* those of a process together, and by time: the first from time 0 on */
    uint64_t count;
};

/* Where samples are, it was executable. Not the vDSO, which perf knows; nor a file that was deleted, which may be a library. */
static bool is_generated(const struct scanned_mapping *mapping)
{
    return jd_perf_is_anonymous(mapping->name) || jd_perf_has_perf_map(mapping->name);
}

/* Programs */

static int by_process_and_time(const void *left, const void *right)
{
    const struct scanned_mapping *const a = *(struct scanned_mapping *const *)left;
    const struct scanned_mapping *const b = *(struct scanned_mapping *const *)right;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static bool sort_mappings(struct searching *searching)
{
    const struct profile_scan *const scan = searching->scan;
    searching->mappings = malloc(((size_t)scan->mapping_count + 1) * sizeof(*searching->mappings));
    if (searching->mappings == NULL)
        return false;
    for (uint64_t i = 0; i < scan->mapping_count; i++)
        searching->mappings[i] = &scan->mappings[i];
    sort(searching->mappings, scan->mapping_count, sizeof(*searching->mappings), by_process_and_time);
    return true;
}

static int by_process_and_begin(const void *left, const void *right)
{
    const struct program *const a = left, *const b = right;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return a->since < b->since ? -1 : a->since > b->since;
}

static void keep_once(struct searching *searching)
{
    struct program *const programs = searching->programs;
    uint64_t kept = 0;
    sort(programs, searching->count, sizeof(*programs), by_process_and_begin);
    for (uint64_t i = 0; i < searching->count; i++)
        if (kept == 0 || by_process_and_begin(&programs[kept - 1], &programs[i]) != 0)
            programs[kept++] = programs[i];
    searching->count = kept;
}

/* Each process has one from its beginning on, and one for each program that it has executed. */
static bool list_programs(struct searching *searching)
{
    const struct profile_scan *const scan = searching->scan;
    struct scanned_mapping *const *const mappings = searching->mappings;
    uint64_t room = scan->forks.count + scan->name_count + 1;
    for (uint64_t i = 0; i < scan->mapping_count; i++)
        room += i == 0 || mappings[i]->pid != mappings[i - 1]->pid;
    searching->programs = calloc((size_t)room, sizeof(*searching->programs));
    if (searching->programs == NULL)
        return false;
    for (uint64_t i = 0; i < scan->mapping_count; i++)
        if (i == 0 || mappings[i]->pid != mappings[i - 1]->pid)
            searching->programs[searching->count++].pid = mappings[i]->pid;
    for (uint64_t i = 0; i < scan->forks.count; i++)
        searching->programs[searching->count++].pid = scan->forks.by_pid[i].pid;
    for (uint64_t i = 0; i < scan->name_count; i++) {
        const struct scanned_name *const name = &scan->names[i];
        if (name->executes && name->time != 0)
            searching->programs[searching->count++] =
                (struct program){.pid = name->pid, .since = name->time, .executed = true};
    }
    keep_once(searching);
    return true;
}

/* Which the process ran then; NULL: nothing is known of it. */
static struct program *find_program(const struct searching *searching, uint32_t pid, uint64_t time)
{
    uint64_t low = 0, high = searching->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const struct program *const program = &searching->programs[middle];
        if (program->pid < pid || (program->pid == pid && program->since <= time))
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && searching->programs[low - 1].pid == pid ? &searching->programs[low - 1] : NULL;
}

static void give_mappings(struct searching *searching)
{
    struct scanned_mapping **const mappings = searching->mappings;
    uint64_t next = 0;
    for (uint64_t i = 0; i < searching->count; i++) {
        struct program *const program = &searching->programs[i], *const later = program + 1;
        const bool is_last = i + 1 == searching->count || later->pid != program->pid;
        program->mappings = mappings + next;
        for (; next < searching->scan->mapping_count && mappings[next]->pid == program->pid &&
               (is_last || mappings[next]->time < later->since);
             next++)
            program->generates = program->generates || is_generated(mappings[next]);
        program->count = (uint64_t)(mappings + next - program->mappings);
    }
}

/* By time, not by place: events of another processor may stand behind later ones. */
static void give_names(const struct searching *searching)
{
    const struct profile_scan *const scan = searching->scan;
    for (uint64_t i = 0; i < scan->name_count; i++) {
        const struct scanned_name *const name = &scan->names[i];
        struct program *const program = find_program(searching, name->pid, name->time);
        if (program != NULL && name->time >= program->named_at) {
            program->name = name->name;
            program->named_at = name->time;
        }
    }
}

static bool find_programs(struct searching *searching)
{
    if (!sort_mappings(searching) || !list_programs(searching))
        return false;
    give_mappings(searching);
    give_names(searching);
    return true;
}

/* What it was forked from, whose memory it has as it was at `until`; NULL: it was not forked. */
static struct program *parent_of(const struct searching *searching, const struct program *program,
                                 uint64_t *until)
{
    const struct fork_event *const from = jd_forks_find(&searching->scan->forks, program->pid);
    if (program->executed || from == NULL)
        return NULL;
    if (from->time < *until)
        *until = from->time;
    return find_program(searching, from->parent, *until);
}

/* Dumps */

static void add_dump(struct program *program, uint64_t time)
{
    if (!program->has_dump || time < program->dump_from)
        program->dump_from = time;
    program->has_dump = true;
}

static bool has_dump(const struct searching *searching, const struct program *program)
{
    uint64_t until = UINT64_MAX;
    for (unsigned generation = 0; program != NULL && generation < SCAN_ANCESTORS; generation++) {
        if (program->has_dump && program->dump_from <= until)
            return true;
        program = parent_of(searching, program, &until);
    }
    return false;
}

/* A dump that was given without a mapping is taken for that of the process's last program. */
static void find_dumps(const struct searching *searching, const uint32_t *pids, uint64_t count)
{
    for (uint64_t i = 0; i < searching->scan->mapping_count; i++) {
        const struct scanned_mapping *const mapping = &searching->scan->mappings[i];
        if (mapping->executable && jd_scan_dump_pid(mapping->name) != 0)
            add_dump(find_program(searching, mapping->pid, mapping->time), mapping->time);
    }
    for (uint64_t i = 0; i < count; i++) {
        struct program *const program = find_program(searching, pids[i], UINT64_MAX);
        if (program != NULL)
            add_dump(program, program->since);
    }
    for (uint64_t i = 0; i < searching->count; i++)
        searching->programs[i].is_described = has_dump(searching, &searching->programs[i]);
}

/* Samples */

/* Where each lies from when on: what came last is there. */
static bool index_mappings(struct program *program)
{
    const uint64_t room = program->count + 1;
    program->places = program->count < UINT32_MAX ? calloc((size_t)room, sizeof(*program->places)) : NULL;
    if (program->places == NULL)
        return false;
    for (uint64_t i = 0; i < program->count; i++) {
        const struct scanned_mapping *const mapping = program->mappings[i];
        program->places[i] = (struct indexed_life){mapping->begin, mapping->end, mapping->time, UINT64_MAX};
    }
    return jd_life_index_init(&program->index, program->places, (uint32_t)program->count);
}

/* What was mapped there then: in `found`, NULL if nothing is known. False: out of memory. */
static bool find_mapping(const struct searching *searching, struct program *program, uint64_t time,
                         uint64_t address, const struct scanned_mapping **found)
{
    *found = NULL;
    for (unsigned generation = 0; program != NULL && generation < SCAN_ANCESTORS; generation++) {
        if (program->places == NULL && !index_mappings(program))
            return false;
        const uint32_t last =
            jd_life_index_last(&program->index, jd_life_index_leaf(&program->index, address), time);
        if (last != UINT32_MAX) {
            *found = program->mappings[last];
            return true;
        }
        program = parent_of(searching, program, &time);
    }
    return true;
}

/* Of a child too it is the map of the process that has mapped the memory. */
static bool is_in_perf_map(const struct searching *searching, const struct scanned_mapping *mapping)
{
    struct program *const program = find_program(searching, mapping->pid, mapping->time);
    if (!jd_perf_has_perf_map(mapping->name))
        return false;
    if (program->perf_map == MAP_NOT_LOOKED_FOR)
        program->perf_map = searching->has_perf_map(program->pid) ? MAP_IS_THERE : MAP_IS_NOT_THERE;
    return program->perf_map == MAP_IS_THERE;
}

static bool take_sample(const struct searching *searching, const struct perf_sample *sample)
{
    const uint64_t time = sample->stamp.time;
    struct program *const program = find_program(searching, sample->stamp.pid, time);
    const struct scanned_mapping *mapping;
    if (program == NULL || program->is_described)
        return true;
    if (!find_mapping(searching, program, time, sample->ip, &mapping))
        return false;
    program->samples += mapping != NULL && is_generated(mapping) && !is_in_perf_map(searching, mapping);
    return true;
}

/* In what it has mapped, or what it was forked from. */
static bool may_run_generated_code(const struct searching *searching, const struct program *program)
{
    uint64_t until = UINT64_MAX;
    for (unsigned generation = 0; program != NULL && generation < SCAN_ANCESTORS; generation++) {
        if (program->generates)
            return true;
        program = parent_of(searching, program, &until);
    }
    return false;
}

/* In most profiles there is nothing to find: to read their samples for it took an eighth of the injection. */
static bool is_worth_reading(const struct searching *searching)
{
    for (uint64_t i = 0; i < searching->count; i++)
        if (!searching->programs[i].is_described &&
            may_run_generated_code(searching, &searching->programs[i]))
            return true;
    return false;
}

static bool read_samples(const struct searching *searching, struct undescribed *undescribed,
                         struct perf_data *data)
{
    struct perf_event event;
    if (!is_worth_reading(searching))
        return true;
    jd_perf_data_rewind(data);
    while (jd_perf_data_next(data, &event)) {
        struct perf_sample sample;
        struct problem problem;
        if (event.type != PERF_EVENT_SAMPLE || !jd_perf_sample(data, &event, &sample, &problem) ||
            !sample.user)
            continue;
        undescribed->user_samples++;
        if (!take_sample(searching, &sample))
            return false;
    }
    return true;
}

/* The result */

static struct span name_of(const struct searching *searching, const struct program *program)
{
    struct span name = program->name;
    uint64_t until = UINT64_MAX;
    for (unsigned generation = 0; name.data == NULL && generation < SCAN_ANCESTORS; generation++) {
        program = parent_of(searching, program, &until);
        if (program == NULL)
            break;
        name = program->name;
    }
    return name;
}

static bool give_processes(const struct searching *searching, struct undescribed *undescribed)
{
    struct undescribed_process *const processes =
        calloc((size_t)searching->count + 1, sizeof(*undescribed->processes));
    undescribed->processes = processes;
    if (processes == NULL)
        return false;
    for (uint64_t i = 0; i < searching->count; i++) {
        const struct program *const program = &searching->programs[i];
        if (program->samples == 0)
            continue;
        if (undescribed->count == 0 || processes[undescribed->count - 1].pid != program->pid)
            processes[undescribed->count++].pid = program->pid;
        processes[undescribed->count - 1].name = name_of(searching, program);
        processes[undescribed->count - 1].samples += program->samples;
    }
    return true;
}

bool jd_undescribed_find(struct undescribed *undescribed, const struct profile_scan *scan,
                         const uint32_t *pids, uint64_t pid_count,
                         bool (*has_perf_map)(uint32_t pid), struct perf_data *data)
{
    struct searching searching = {.scan = scan, .has_perf_map = has_perf_map};
    *undescribed = (struct undescribed){0};
    bool found = find_programs(&searching);
    if (found) {
        find_dumps(&searching, pids, pid_count);
        found = read_samples(&searching, undescribed, data) && give_processes(&searching, undescribed);
    }
    for (uint64_t i = 0; i < searching.count; i++) {
        jd_life_index_free(&searching.programs[i].index);
        free(searching.programs[i].places);
    }
    free(searching.programs);
    free(searching.mappings);
    return found;
}

void jd_undescribed_free(struct undescribed *undescribed)
{
    free(undescribed->processes);
    *undescribed = (struct undescribed){0};
}
