#include "inject/hidden_code.h"

#include "reader/grow.h"

struct looking {
    const struct profile_scan *scan;
    const struct history *history;
    const struct profile_clock *clock;
    uint32_t pid;
    struct ranges code;
    struct ranges *holes;
};

void jd_hiding_events_free(struct hiding_events *events)
{
    free(events->offsets);
    *events = (struct hiding_events){0};
}

static int ascending(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

void jd_hiding_events_sort(struct hiding_events *events)
{
    if (events->count == 0)
        return;
    qsort(events->offsets, (size_t)events->count, sizeof(*events->offsets), ascending);
    uint64_t kept = 1;
    for (uint64_t i = 1; i < events->count; i++)
        if (events->offsets[i] != events->offsets[kept - 1])
            events->offsets[kept++] = events->offsets[i];
    events->count = kept;
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

static bool have_one_name(const struct scanned_mapping *a, const struct scanned_mapping *b)
{
    return a->name.size == b->name.size &&
           memcmp(a->name.data, b->name.data, (size_t)a->name.size) == 0;
}

/* Whether the address was in that file's memory when the code was loaded. */
static bool was_there(const struct looking *looking, const struct scanned_mapping *mapping,
                      uint64_t address, uint64_t loaded)
{
    for (const struct scanned_mapping *earlier = looking->scan->mappings; earlier < mapping;
         earlier++)
        if (earlier->pid == mapping->pid && earlier->executable && earlier->time <= loaded &&
            earlier->begin <= address && address < earlier->end &&
            have_one_name(earlier, mapping))
            return true;
    return false;
}

static bool hides_living_code(const struct looking *looking,
                              const struct scanned_mapping *mapping)
{
    const struct history *const history = looking->history;
    for (uint32_t i = 0; i < history->life_count; i++) {
        const struct life *const life = &history->lives[i];
        const uint64_t begin = jd_profile_time(looking->clock, life->begin);
        const uint64_t end =
            life->end == UINT64_MAX ? UINT64_MAX : jd_profile_time(looking->clock, life->end);
        if (life->address >= mapping->begin && life->address < mapping->end &&
            begin <= mapping->time && mapping->time < end &&
            was_there(looking, mapping, life->address, begin))
            return true;
    }
    return false;
}

static bool hides(struct looking *looking, const struct scanned_mapping *mapping)
{
    /* A JIT puts its next object's data there, say. Nobody asks perf what such memory is. */
    if (jd_perf_is_anonymous(mapping->name) && !mapping->executable &&
        jd_ranges_overlap(looking->holes, mapping->begin, mapping->end) &&
        jd_scan_descends(looking->scan, mapping->pid, looking->pid))
        return true;
    if (!jd_ranges_overlap(&looking->code, mapping->begin, mapping->end) ||
        !jd_scan_descends(looking->scan, mapping->pid, looking->pid))
        return false;
    /* Made writable for a moment, memory without a file is not executable, and hides all the same. */
    return jd_perf_is_anonymous(mapping->name) ||
           (mapping->executable && hides_living_code(looking, mapping));
}

bool jd_hiding_events_add(struct hiding_events *events, const struct profile_scan *scan,
                          const struct history *history, const struct profile_clock *clock,
                          uint32_t pid, struct ranges *holes)
{
    struct looking looking = {
        .scan = scan, .history = history, .clock = clock, .pid = pid, .holes = holes};
    bool added = true;
    for (uint32_t i = 0; added && i < history->life_count; i++) {
        const struct life *const life = &history->lives[i];
        added = jd_ranges_add(&looking.code, life->address,
                              life->address + life_size(history, life));
    }
    for (uint64_t i = 0; added && i < scan->mapping_count; i++)
        if (hides(&looking, &scan->mappings[i]))
            added = add_event(events, scan->mappings[i].offset);
    jd_ranges_free(&looking.code);
    return added;
}
