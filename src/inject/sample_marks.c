#include "inject/sample_marks.h"

#include "format/elf_mach.h"
#include "reader/grow.h"
#include "reader/sort.h"

/* How early a sample may seem to be where clocks were fitted: profile_clock.h. */
#define TOLERANCE 10000000 /* ns */

bool jd_sample_marks_init(struct sample_marks *marks, const struct history *history,
                          const struct profile_clock *clock, uint32_t pid)
{
    const size_t room = (size_t)history->life_count + 1;
    const bool is_fitted = clock->kind == CLOCK_INFERRED || clock->kind == CLOCK_ROUGH;
    const uint64_t tolerance = is_fitted ? TOLERANCE : 0;
    *marks = (struct sample_marks){.of_life = calloc(room, 1),
                                   .pid = pid,
                                   .lives = malloc(room * sizeof(*marks->lives)),
                                   .count = history->life_count,
                                   .word_size = elf_mach_address_size(
                                       jd_dump_machine(&history->reader))};
    if (!jd_code_uses_init(&marks->uses, history, clock) || marks->of_life == NULL ||
        marks->lives == NULL)
        return false;
    for (uint32_t i = 0; i < marks->count; i++) {
        const struct life *const life = &history->lives[i];
        const uint64_t begin = jd_profile_time(clock, life->begin);
        marks->lives[i] = (struct indexed_life){
            .address = life->address,
            .end = life->address + life_size(history, life),
            .from = begin > tolerance ? begin - tolerance : 0,
            .until = life->end == UINT64_MAX || clock->kind == CLOCK_UNKNOWN
                         ? UINT64_MAX
                         : jd_profile_time(clock, life->end)};
    }
    return jd_life_index_init(&marks->index, marks->lives, marks->count);
}

void jd_sample_marks_free(struct sample_marks *marks)
{
    free(marks->of_life);
    jd_life_index_free(&marks->index);
    free(marks->lives);
    jd_code_uses_free(&marks->uses);
    *marks = (struct sample_marks){0};
}

static bool mark_life(void *context, uint32_t life)
{
    struct sample_marks *const marks = context;
    marks->of_life[life] |= MARK_SAMPLED;
    return true;
}

static void mark(struct sample_marks *marks, uint64_t address, uint64_t time)
{
    const uint32_t leaf = jd_life_index_leaf(&marks->index, address);
    if (leaf == 0)
        return;
    jd_life_index_note(&marks->index, leaf, time);
    jd_life_index_ask(&marks->index, leaf, time, mark_life, marks);
}

static void mark_sample(struct sample_marks *marks, const struct perf_sample *sample)
{
    mark(marks, sample->ip, sample->stamp.time);
    for (uint64_t at = 0; at + 8 <= sample->chain.size; at += 8) {
        uint64_t address;
        memcpy(&address, sample->chain.data + at, sizeof(address));
        if (address < PERF_CONTEXT_MAX)
            mark(marks, address, sample->stamp.time);
    }
}

/* Copies of the stack */

struct using {
    struct sample_marks *marks;
    uint64_t time;
};

static bool use_life(void *context, uint32_t life)
{
    const struct using *const using = context;
    return jd_code_uses_add(&using->marks->uses, using->time, life);
}

static bool use(struct sample_marks *marks, uint64_t address, uint64_t time)
{
    struct using using = {marks, time};
    return jd_life_index_ask(&marks->index, jd_life_index_leaf(&marks->index, address), time, use_life,
                             &using);
}

/* Whatever may be a return address; perf looks at the byte before it, which may be another life's. */
static bool use_words(struct sample_marks *marks, struct span words, unsigned int size,
                      uint64_t time)
{
    const uint64_t lowest = marks->index.cuts[0];
    const uint64_t end = marks->index.cuts[marks->index.cut_count - 1];
    for (uint64_t at = 0; at + size <= words.size; at += size) {
        uint32_t narrow;
        uint64_t word;
        if (size == sizeof(narrow)) {
            memcpy(&narrow, words.data + at, sizeof(narrow));
            word = narrow;
        } else {
            memcpy(&word, words.data + at, sizeof(word));
        }
        if (word >= lowest && word <= end &&
            (!use(marks, word, time) || (word > 0 && !use(marks, word - 1, time))))
            return false;
    }
    return true;
}

static bool use_sample(struct sample_marks *marks, const struct perf_sample *sample, uint64_t until)
{
    const uint64_t time = sample->stamp.time < until ? sample->stamp.time : until;
    if (!sample->has_stack || marks->count == 0)
        return true;
    return use(marks, sample->ip, time) && use_words(marks, sample->registers, 8, time) &&
           use_words(marks, sample->stack, marks->word_size, time);
}

/* Processes: those of the dumps, and those that have their code by a fork. */

struct marked_process {
    uint32_t pid;
    struct sample_marks *marks;
    uint64_t until; /* when it was forked: perf knows no later mappings of its parent's. Else UINT64_MAX */
};

struct marked_processes {
    struct marked_process *of;
    uint64_t count;
    uint64_t capacity;
};

static int by_pid(const void *left, const void *right)
{
    const struct marked_process *const a = left, *const b = right;
    return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static bool add_process(struct marked_processes *processes, uint32_t pid,
                        struct sample_marks *marks, uint64_t until)
{
    struct marked_process *const grown = grow(processes->of, &processes->capacity,
                                              processes->count + 1, sizeof(*processes->of));
    if (grown == NULL)
        return false;
    processes->of = grown;
    grown[processes->count++] = (struct marked_process){pid, marks, until};
    return true;
}

static bool find_processes(struct marked_processes *processes, struct sample_marks *marks,
                           uint32_t count, const struct profile_scan *scan)
{
    bool found = true;
    for (uint32_t i = 0; found && i < count; i++) {
        uint64_t heir_count;
        struct heir *const heirs = jd_forks_heirs(&scan->forks, marks[i].pid, &heir_count);
        found = heirs != NULL;
        for (uint64_t of = 0; found && of < heir_count; of++)
            found = add_process(processes, heirs[of].pid, &marks[i], heirs[of].until);
        free(heirs);
    }
    sort(processes->of, processes->count, sizeof(*processes->of), by_pid);
    return found;
}

static uint64_t first_of(const struct marked_processes *processes, uint32_t pid)
{
    uint64_t low = 0, high = processes->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (processes->of[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void settle(struct sample_marks *marks)
{
    jd_code_uses_settle(&marks->uses);
    jd_life_index_settle(&marks->index);
    for (uint32_t i = 0; i < marks->count; i++)
        if (jd_life_index_is_early(&marks->index, i))
            marks->of_life[i] |= MARK_EARLY;
}

bool jd_sample_marks_read(struct sample_marks *marks, uint32_t count,
                          const struct profile_scan *scan, struct perf_data *data)
{
    struct marked_processes processes = {0};
    struct perf_event event;
    bool has_memory = find_processes(&processes, marks, count, scan);
    jd_perf_data_rewind(data);
    while (has_memory && jd_perf_data_next(data, &event)) {
        struct perf_sample sample;
        struct problem problem;
        if (event.type == PERF_EVENT_SAMPLE ? !jd_perf_sample(data, &event, &sample, &problem)
            : event.type != PERF_EVENT_DEFERRED_CHAIN ||
                  !jd_perf_deferred_chain(data, &event, &sample, &problem))
            continue;
        for (uint64_t i = first_of(&processes, sample.stamp.pid);
             has_memory && i < processes.count && processes.of[i].pid == sample.stamp.pid; i++) {
            mark_sample(processes.of[i].marks, &sample);
            has_memory = use_sample(processes.of[i].marks, &sample, processes.of[i].until);
        }
    }
    for (uint32_t i = 0; i < count; i++)
        settle(&marks[i]);
    free(processes.of);
    return has_memory;
}
