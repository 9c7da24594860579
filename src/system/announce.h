/*
 * How a profiler that is running hears of a dump.
 */
#ifndef JITDUMP_ANNOUNCE_H
#define JITDUMP_ANNOUNCE_H

#include <limits.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Longer paths are not announced. */
#if defined(__APPLE__)
#define ANNOUNCED_PATH_MAX 244 /* what samply has room for (S17) */
#else
#define ANNOUNCED_PATH_MAX PATH_MAX
#endif

/* What stays mapped while the dump is open; NULL: nothing. */
struct announcement {
    void *marker;
    size_t marker_size;
};

/* The file has its header by now. `path` is NULL if the program has opened it. Returns 0, or an error,
 * of which errno tells more. */
int jd_announce(struct announcement *announcement, const char *path, int fd);

void jd_announce_end(struct announcement *announcement);

#pragma GCC visibility pop

#endif
