/*
 * The perf map, /tmp/perf-<pid>.map: a line of text for each piece of code, for what reads no
 * jitdump.
 *
 * Lines are single writes to an O_APPEND descriptor, which the kernel keeps apart: no lock. A
 * move's line needs the name of the load's, and so the names are kept, in a list for each
 * hash of the code_index, to whose head any thread can add.
 */
#ifndef JITDUMP_PERF_MAP_H
#define JITDUMP_PERF_MAP_H

#include <stdatomic.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Half a mebibyte of untouched memory; lists of a million functions are 16 long. */
#define PERF_MAP_LISTS 65536

#define PERF_MAP_PATH_SIZE 32

struct perf_map_name {
    struct perf_map_name *next;
    uint64_t code_index;
    char name[];
};

struct perf_map {
    int fd; /* -1: none */
    uint32_t pid;
    /* Of the lines written. In the child of a fork it stays what it was then, whatever the
     * parent has appended since. A count, as the error is a number: nothing is published with
     * them, so all accesses are relaxed. */
    _Atomic uint64_t size;
    /* JITDUMP_ERROR_PERF_MAP after a failed write; nothing is written from then on. */
    _Atomic int error;
    _Atomic(struct perf_map_name *) *names;
};

void jd_perf_map_path(uint32_t pid, char path[PERF_MAP_PATH_SIZE]);

/* Creates the map of process `pid`. errno tells more of an error. */
int jd_perf_map_open(struct perf_map *map, uint32_t pid);

void jd_perf_map_load(struct perf_map *map, uint64_t code_index, uint64_t code_addr,
                      uint64_t code_size, const char *prefix, const char *name);
void jd_perf_map_move(struct perf_map *map, uint64_t code_index, uint64_t new_code_addr,
                      uint64_t code_size);

/* In the child of a fork: its own map, a copy of what the parent's was at the fork. */
int jd_perf_map_start_in_child(struct perf_map *map, uint32_t pid);

/* Removes the map if it is that of process `unlink_pid` (0: none): a child whose own could not be
 * made still has its parent's. Returns the map's error. */
int jd_perf_map_close(struct perf_map *map, uint32_t unlink_pid);

#pragma GCC visibility pop

#endif
