/*
 * Which processes were forked from which.
 *
 * A pid may be given again: then it is both processes, since nothing in a mapping or a sample tells them
 * apart.
 */
#ifndef JITDUMP_INJECT_FORKS_H
#define JITDUMP_INJECT_FORKS_H

#include <stdbool.h>
#include <stdint.h>

struct fork_event {
    uint64_t time;
    uint32_t pid;
    uint32_t parent;
};

struct forks {
    struct fork_event *by_pid; /* once settled: of those of one pid the earliest first */
    uint64_t count;
    uint64_t capacity;
    struct fork_event *by_parent; /* the same, those of one parent together, and in that order */
};

/* False: out of memory. To be freed in any case. */
bool jd_forks_add(struct forks *forks, const struct fork_event *event);
bool jd_forks_settle(struct forks *forks);
void jd_forks_free(struct forks *forks);

/* The earliest fork that made the process; NULL: none did. */
const struct fork_event *jd_forks_find(const struct forks *forks, uint32_t pid);

/* A process that has another's memory, as it was at a time. */
struct heir {
    uint32_t pid;
    uint64_t until; /* UINT64_MAX: it is the process itself */
};

/* The process itself, and those forked from it, or from one that was: each once. To be freed with free().
 * NULL: out of memory. */
struct heir *jd_forks_heirs(const struct forks *forks, uint32_t pid, uint64_t *count);

#endif
