/*
 * Files that bear the process's id in their names, as dumps and perf maps do: those of its own
 * life, which something else in it may be writing, and those that an earlier process of the id has
 * left.
 */
#ifndef JITDUMP_PROCESS_FILE_H
#define JITDUMP_PROCESS_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#pragma GCC visibility push(hidden)

/* Whether the file at the path is of the process's own life, and none that was made here and is
 * closed. True also where that can't be told: without /proc. */
bool jd_process_file_is_living(const char *path, const struct stat *status);

/* These two with jd_process_lock() held. The library has made this file at the path. */
void jd_process_file_made(const char *path, uint64_t device, uint64_t inode);

/* The library is about to close the file, or to forget it; `fd` is its descriptor, if it has one
 * still, or -1. */
void jd_process_file_closed(uint64_t device, uint64_t inode, int fd);

#pragma GCC visibility pop

#endif
