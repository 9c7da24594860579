/*
 * Between the library and the system: calls that fail when they are told to, and a count of what
 * the library holds. Linked with --wrap for each of them.
 */
#ifndef JITDUMP_TESTS_FAULTS_H
#define JITDUMP_TESTS_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

enum fault {
    FAULT_OPEN,
    FAULT_MMAP,
    FAULT_WRITEV,
    FAULT_FTRUNCATE,
    FAULT_FLOCK,
    FAULT_MALLOC, /* calloc and realloc too */
    FAULT_THREAD,
    FAULT_KINDS
};

/* A write of more is refused with ENOSPC. */
#define WRITE_SIZE_MAX (1 << 20)

/* None is armed, none has happened; the process has its first pid and no limit. */
void faults_reset(void);

/* The call after `after` others of the kind fails, and so do those behind it, `times` in all. A
 * write takes `partial` bytes first. */
void faults_arm(enum fault fault, uint32_t after, uint32_t times, int error_number,
                uint32_t partial);

/* Whether any of the kind has happened. */
bool faults_happened(enum fault fault);

/* The same, or one is to come. */
bool faults_possible(enum fault fault);

/* The library's files take no more, as at RLIMIT_FSIZE. */
void faults_limit_file_size(uint64_t size);

/* Calls of the library stand between these two, in one thread: others' mallocs don't fail, and
 * their files don't count. */
void faults_enter(void);
void faults_leave(void);

/* What the library has opened and mapped, and not given back. */
int faults_descriptors(void);
int faults_mappings(void);

/* As far as the library knows, the process goes on as its own child, with another pid. */
void faults_fork(void);
uint32_t faults_pid(void);
uint32_t faults_first_pid(void);

#endif
