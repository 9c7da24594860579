/* The fields and the one function that the library uses. */
#ifndef MACOS_ON_LINUX_LIBPROC_H
#define MACOS_ON_LINUX_LIBPROC_H

#include <stdint.h>

#define PROC_PIDTBSDINFO 3

struct proc_bsdinfo {
    uint64_t pbi_start_tvsec;
    uint64_t pbi_start_tvusec;
};

int proc_pidinfo(int pid, int flavor, uint64_t argument, void *buffer, int size);

#endif
