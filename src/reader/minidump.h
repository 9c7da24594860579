/*
 * Minidumps, as Breakpad and its relatives write them of crashed processes on Linux: the list of
 * modules, and what the process's own files in /proc said.
 *
 * Sources: Microsoft's minidumpapiset.h, and Breakpad's minidump_format.h for what is Linux's.
 */
#ifndef JITDUMP_READER_MINIDUMP_H
#define JITDUMP_READER_MINIDUMP_H

#include "reader/memory_map.h"

enum {
    MINIDUMP_HEADER_SIZE = 32,
    MINIDUMP_DIRECTORY_SIZE = 12, /* of an entry: type, size, offset */
    MINIDUMP_MODULE_SIZE = 108,
    MINIDUMP_MODULE_LIST = 4, /* a stream's type */
    MINIDUMP_PIDS_MAX = 34     /* as many as namespaces can be nested, and two */
};

struct minidump {
    struct span file;
    bool swapped; /* not in this machine's byte order */

    uint64_t module_entry; /* offset of the list's entry in the directory */
    struct span modules;   /* whole structures of MINIDUMP_MODULE_SIZE */
    struct memory_map module_ranges;

    struct memory_map map; /* what was mapped, without the modules */

    /* The process's id, as it is in each of its namespaces: what it calls itself is among them. */
    uint32_t pids[MINIDUMP_PIDS_MAX];
    unsigned int pid_count; /* at least 1 */
};

enum minidump_error {
    MINIDUMP_OK,
    MINIDUMP_NO_MEMORY,
    MINIDUMP_WRONG /* see `problem` */
};

/* After an error the minidump is empty, and may be freed. */
enum minidump_error jd_minidump_read(struct minidump *minidump, struct span file,
                                     struct problem *problem);
void jd_minidump_free(struct minidump *minidump);

bool jd_minidump_has_pid(const struct minidump *minidump, uint32_t pid);

#endif
