/*
 * What the library asks of macOS alone, on Linux: included before all else where the library is compiled with
 * -D__APPLE__. macos_on_linux.c has the functions.
 */
#ifndef MACOS_ON_LINUX_H
#define MACOS_ON_LINUX_H

#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#define st_mtimespec st_mtim

#undef MADV_WIPEONFORK

#define CLOCK_UPTIME_RAW CLOCK_MONOTONIC
uint64_t clock_gettime_nsec_np(clockid_t clock);

#define pthread_setname_np(name) pthread_setname_np(pthread_self(), name)
int pthread_threadid_np(void *thread, uint64_t *id);

int issetugid(void);

#endif
