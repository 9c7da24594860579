#include "inject/forks.h"

#include "reader/grow.h"
#include "reader/sort.h"

void jd_forks_free(struct forks *forks)
{
    free(forks->by_pid);
    free(forks->by_parent);
    *forks = (struct forks){0};
}

bool jd_forks_add(struct forks *forks, const struct fork_event *event)
{
    struct fork_event *const grown =
        grow(forks->by_pid, &forks->capacity, forks->count + 1, sizeof(*grown));
    if (grown == NULL)
        return false;
    forks->by_pid = grown;
    grown[forks->count++] = *event;
    return true;
}

static int by_pid(const void *left, const void *right)
{
    const struct fork_event *const a = left, *const b = right;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return a->time < b->time ? -1 : a->time > b->time;
}

static int by_parent(const void *left, const void *right)
{
    const struct fork_event *const a = left, *const b = right;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    return by_pid(left, right);
}

bool jd_forks_settle(struct forks *forks)
{
    forks->by_parent = malloc(((size_t)forks->count + 1) * sizeof(*forks->by_parent));
    if (forks->by_parent == NULL)
        return false;
    for (uint64_t i = 0; i < forks->count; i++)
        forks->by_parent[i] = forks->by_pid[i];
    sort(forks->by_pid, forks->count, sizeof(*forks->by_pid), by_pid);
    sort(forks->by_parent, forks->count, sizeof(*forks->by_parent), by_parent);
    return true;
}

static uint64_t first_of(const struct forks *forks, uint32_t pid)
{
    uint64_t low = 0, high = forks->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (forks->by_pid[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct fork_event *jd_forks_find(const struct forks *forks, uint32_t pid)
{
    const uint64_t first = first_of(forks, pid);
    return first < forks->count && forks->by_pid[first].pid == pid ? &forks->by_pid[first] : NULL;
}

static uint64_t first_child(const struct forks *forks, uint32_t parent)
{
    uint64_t low = 0, high = forks->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (forks->by_parent[middle].parent < parent)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct heir *jd_forks_heirs(const struct forks *forks, uint32_t pid, uint64_t *count)
{
    struct heir *const heirs = malloc((size_t)(forks->count + 1) * sizeof(*heirs));
    /* Where a pid was given again, it may seem to be its own ancestor. */
    unsigned char *const known = calloc((size_t)(forks->count / 8 + 1), 1);
    *count = 0;
    if (heirs != NULL && known != NULL)
        heirs[(*count)++] = (struct heir){pid, UINT64_MAX};
    for (uint64_t i = 0; i < *count; i++) {
        const struct heir parent = heirs[i];
        for (uint64_t of = first_child(forks, parent.pid); of < forks->count; of++) {
            const struct fork_event *const event = &forks->by_parent[of];
            const uint64_t bit = first_of(forks, event->pid);
            if (event->parent != parent.pid)
                break;
            if (event->pid == pid || (known[bit / 8] >> bit % 8 & 1) != 0)
                continue;
            known[bit / 8] |= (unsigned char)(1u << bit % 8);
            heirs[(*count)++] =
                (struct heir){event->pid, event->time < parent.until ? event->time : parent.until};
        }
    }
    free(known);
    if (*count == 0)
        free(heirs);
    return *count != 0 ? heirs : NULL;
}
