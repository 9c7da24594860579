/*
 * The perf map, /tmp/perf-<pid>.map: a line of text for each piece of code, for what reads no
 * jitdump.
 *
 * Lines, one or those of a batch, are single writes to an O_APPEND descriptor, which the kernel keeps
 * apart: no lock. A move's line needs the name of the load's, and a child's map has a line for each of its parent's
 * functions: so the functions are kept, in a list for each hash of the code_index, to whose head
 * any thread can add.
 */
#ifndef JITDUMP_PERF_MAP_H
#define JITDUMP_PERF_MAP_H

#include "new_file.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Half a mebibyte of untouched memory; lists of a million functions are 16 long. */
#define PERF_MAP_LISTS 65536

#define PERF_MAP_PATH_SIZE 32

struct perf_map_function {
    struct perf_map_function *next;
    uint64_t code_index;
    /* Where it is now. Moves of a function follow each other; hence relaxed, as below. */
    _Atomic uint64_t code_addr;
    uint64_t code_size;
    char name[];
};

struct perf_map {
    struct new_file file;
    uint32_t pid;
    int signal;
    /* JITDUMP_ERROR_PERF_MAP after a failed write; nothing is written from then on. Nothing is
     * published with it, so all accesses are relaxed. */
    _Atomic int error;
    /* NULL: there is no map. */
    _Atomic(struct perf_map_function *) *functions;
};

void jd_perf_map_path(uint32_t pid, char path[PERF_MAP_PATH_SIZE]);

/* Creates the map of process `pid`. No write is to send `signal`: see jd_write_all(). errno tells
 * more of an error. */
int jd_perf_map_open(struct perf_map *map, uint32_t pid, int signal);

/* Lines that are written together. */
struct perf_map_lines {
    char *bytes;
    size_t size;
    size_t capacity;
};

void jd_perf_map_load(struct perf_map *map, uint64_t code_index, uint64_t code_addr,
                      uint64_t code_size, const char *prefix, const char *name, size_t name_size);

/* Many loads, of which the end writes all lines at once. `records_size`: how many bytes their records
 * have in the dump. */
void jd_perf_map_begin(struct perf_map *map, struct perf_map_lines *lines, uint64_t records_size);
void jd_perf_map_add(struct perf_map *map, struct perf_map_lines *lines, uint64_t code_index,
                     uint64_t code_addr, uint64_t code_size, const char *prefix, const char *name,
                     size_t name_size);
void jd_perf_map_end(struct perf_map *map, struct perf_map_lines *lines);

void jd_perf_map_move(struct perf_map *map, uint64_t code_index, uint64_t new_code_addr,
                      uint64_t code_size);

/* In the child of a fork: its own map, with the functions that its parent had at the fork. */
int jd_perf_map_start_in_child(struct perf_map *map, uint32_t pid);

/* With `unlink_it`, removes the map too. Returns its error. */
int jd_perf_map_close(struct perf_map *map, bool unlink_it);

#pragma GCC visibility pop

#endif
