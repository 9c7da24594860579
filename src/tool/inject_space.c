#include "tool/inject_space.h"

#include "tool/messages.h"

#define PAGE UINT64_C(4096)

static bool add_pages(struct ranges *ranges, uint64_t begin, uint64_t end)
{
    return end > UINT64_MAX - PAGE ||
           jd_ranges_add(ranges, begin / PAGE * PAGE, (end + PAGE - 1) / PAGE * PAGE);
}

/* Whether one of the two processes has, or had at some time, what the other has. */
static bool share_space(const struct profile_scan *scan, uint32_t a, uint32_t b)
{
    return jd_scan_descends(scan, a, b) || jd_scan_descends(scan, b, a);
}

/* What a dump has in the process, or will have in its children. */
static bool add_code(struct injected_space *space, const struct injected_dump *dump, bool is_other)
{
    bool added = true;
    for (uint32_t i = 0; added && i < dump->history.life_count; i++) {
        const struct life *const life = &dump->history.lives[i];
        const uint64_t end = life->address + life_size(&dump->history, life);
        added = add_pages(&space->used, life->address, end) &&
                (!is_other || jd_ranges_add(&space->foreign, life->address, end));
    }
    return added;
}

static bool add_objects(struct injected_space *space, const struct profile_scan *scan,
                        const struct injected_dump *dump)
{
    struct ranges objects = {0}, own = {0};
    bool added = jd_scan_occupied(scan, dump->pid, OCCUPIED_BY_OBJECTS, &objects);
    for (uint32_t i = 0; added && i < dump->history.life_count; i++) {
        const struct life *const life = &dump->history.lives[i];
        added = jd_ranges_add(&own, life->address,
                              life->address + life_size(&dump->history, life));
    }
    /* A JIT's memory may have a file, too. */
    for (uint64_t i = 0; added && i < objects.count; i++)
        if (!jd_ranges_overlap(&own, objects.ranges[i].begin, objects.ranges[i].end))
            added = jd_ranges_add(&space->foreign, objects.ranges[i].begin, objects.ranges[i].end);
    jd_ranges_free(&objects);
    jd_ranges_free(&own);
    return added;
}

bool injected_space_find(struct injected_space *space, const struct profile_scan *scan,
                         const struct injected_dumps *dumps, const struct injected_dump *dump,
                         const struct ranges *holes)
{
    *space = (struct injected_space){0};
    struct ranges code = {0};
    bool found = jd_scan_occupied(scan, dump->pid, OCCUPIED_BY_FILES, &space->occupied);
    if (found && !scan->stack_copies)
        return true;
    found = found && jd_scan_occupied(scan, dump->pid, OCCUPIED_BY_CODE, &code) &&
            add_objects(space, scan, dump);
    for (uint64_t i = 0; found && i < code.count; i++)
        found = add_pages(&space->used, code.ranges[i].begin, code.ranges[i].end);
    for (uint64_t i = 0; found && i < holes->count; i++)
        found = add_pages(&space->used, holes->ranges[i].begin, holes->ranges[i].end);
    for (const struct injected_dump *other = dumps->first; found && other != NULL;
         other = other->next)
        if (other == dump || share_space(scan, other->pid, dump->pid))
            found = add_code(space, other, other != dump);
    jd_ranges_free(&code);
    if (!found)
        complain("out of memory");
    return found;
}

void injected_space_free(struct injected_space *space)
{
    jd_ranges_free(&space->occupied);
    jd_ranges_free(&space->foreign);
    jd_ranges_free(&space->used);
}
