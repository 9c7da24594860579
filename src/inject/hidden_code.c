#include "inject/hidden_code.h"

#include "inject/remapped_code.h"
#include "reader/grow.h"
#include "reader/numbers.h"

struct looking {
    struct hiding_events *events;
    struct ranges code;
    struct ranges *holes;
    const struct scanned_mapping **files; /* executable ones over the code; of one file behind each other */
    uint64_t file_count;
    uint64_t file_capacity;
};

void jd_hiding_events_free(struct hiding_events *events)
{
    free(events->offsets);
    *events = (struct hiding_events){0};
}

void jd_hiding_events_sort(struct hiding_events *events)
{
    numbers_sort(events->offsets, events->count);
    events->count = numbers_keep_once(events->offsets, events->count);
}

static bool add_event(struct hiding_events *events, uint64_t offset)
{
    uint64_t *const grown =
        grow(events->offsets, &events->capacity, events->count + 1, sizeof(*events->offsets));
    if (grown == NULL)
        return false;
    events->offsets = grown;
    grown[events->count++] = offset;
    return true;
}

static bool add_file(struct looking *looking, const struct scanned_mapping *mapping)
{
    const struct scanned_mapping **const grown =
        grow(looking->files, &looking->file_capacity, looking->file_count + 1, sizeof(*grown));
    if (grown == NULL)
        return false;
    looking->files = grown;
    grown[looking->file_count++] = mapping;
    return true;
}

static bool look_at(struct looking *looking, const struct scanned_mapping *mapping)
{
    /* A JIT puts its next object's data there, say. Nobody asks perf what such memory is. */
    if (!mapping->of_file && !mapping->executable &&
        jd_ranges_overlap(looking->holes, mapping->begin, mapping->end))
        return add_event(looking->events, mapping->offset);
    if (!jd_ranges_overlap(&looking->code, mapping->begin, mapping->end))
        return true;
    /* Made writable for a moment, memory without a file is not executable, and hides all the same. */
    if (!mapping->of_file)
        return add_event(looking->events, mapping->offset);
    return !mapping->executable || add_file(looking, mapping);
}

static bool look_at_process(struct looking *looking, const struct profile_scan *scan, uint32_t pid)
{
    uint64_t count;
    struct scanned_mapping *const *const mappings = jd_scan_mappings(scan, pid, &count);
    for (uint64_t i = 0; i < count; i++)
        if (!look_at(looking, mappings[i]))
            return false;
    return true;
}

/* Files */

static bool look_at_files(struct looking *looking, const struct history *history,
                          const struct profile_clock *clock)
{
    if (looking->file_count < 2)
        return true; /* nothing is there again */
    struct timed_life *const lives = jd_timed_lives(history, clock);
    bool *const of_code = malloc((size_t)looking->file_count * sizeof(*of_code));
    bool looked = lives != NULL && of_code != NULL;
    for (uint64_t begin = 0, end; looked && begin < looking->file_count; begin = end) {
        const struct scanned_mapping *const *const files = looking->files + begin;
        for (end = begin + 1; end < looking->file_count && of_one_file(*files, looking->files[end]);)
            end++;
        if (end - begin < 2)
            continue;
        looked = jd_remapped_find(lives, history->life_count, files, end - begin, of_code);
        for (uint64_t i = 0; looked && i < end - begin; i++)
            looked = !of_code[i] || add_event(looking->events, files[i]->offset);
    }
    free(lives);
    free(of_code);
    return looked;
}

bool jd_hiding_events_add(struct hiding_events *events, const struct profile_scan *scan,
                          const struct history *history, const struct profile_clock *clock,
                          uint32_t pid, struct ranges *holes)
{
    struct looking looking = {.events = events, .holes = holes};
    uint64_t heir_count;
    struct heir *const heirs = jd_forks_heirs(&scan->forks, pid, &heir_count);
    bool added = heirs != NULL;
    for (uint32_t i = 0; added && i < history->life_count; i++) {
        const struct life *const life = &history->lives[i];
        added = jd_ranges_add(&looking.code, life->address,
                              life->address + life_size(history, life));
    }
    for (uint64_t i = 0; added && i < heir_count; i++)
        added = look_at_process(&looking, scan, heirs[i].pid);
    added = added && look_at_files(&looking, history, clock);
    jd_ranges_free(&looking.code);
    free(looking.files);
    free(heirs);
    return added;
}
