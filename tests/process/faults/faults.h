/*
 * Between the library and libc: each call that can fail is counted, by name and by the kind of
 * file that it is about, and fails when a plan says so. The library's objects are linked with
 * these calls under other names (calls.txt): what the test itself calls never comes here.
 */
#ifndef JITDUMP_TESTS_FAULTS_H
#define JITDUMP_TESTS_FAULTS_H

#include "conditions.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    PLANS_MAX = 4,
    CALLS_MAX = 64,
    WRITES_MAX = 256,
    STEPS_MAX = 64,
    LEFT_MAX = 8,
    PROBLEMS_MAX = 8
};

/* The n-th call of the name fails, or, of a write, takes no more than so many bytes. */
struct fault_plan {
    char call[32];
    unsigned occurrence; /* from 1 */
    bool always;         /* and so do all after it */
    int error_number;    /* 0: a short write of `size` bytes */
    size_t size;
};

struct step {
    char name[96];
    int result;
};

/* What a run leaves: in memory that it shares with the process that has started it. */
struct report {
    int plan_count;
    struct fault_plan plans[PLANS_MAX];
    int condition_count;
    struct condition conditions[CONDITIONS_MAX];

    int call_count;
    struct {
        char name[32];
        unsigned count;
    } calls[CALLS_MAX];
    int write_count; /* the sizes of the writes to the dump */
    struct {
        size_t first, total;
    } writes[WRITES_MAX];

    int step_count;
    struct step steps[STEPS_MAX];
    int fired_step;  /* in which the first plan came true; -1: it did not */
    int dumper;      /* the process that the plans are for */
    int left_count;  /* what a file that could not be made has left behind */
    char left[LEFT_MAX][32];
    int problem_count;
    char problems[PROBLEMS_MAX][160];
};

/* Where calls and faults are reported. From then on they count. */
void faults_start(struct report *report);

/* Starts anew, in the child of a fork, which alone is to see the faults. */
void faults_restart(void);

/* From here on nothing fails. */
void faults_end(void);

bool faults_planned(void);

/* The errno of the first plan; 0: there is none. */
int faults_error_number(void);

/* The descriptor is one of the dump, though the library has not opened it. */
void faults_give_dump(int fd);

/* What the library has, and is to give back. */
struct held {
    int descriptors, allocations;
    size_t mapped;
};
struct held faults_held(void);

void left_behind(const char *what);

__attribute__((format(printf, 1, 2))) void problem(const char *format, ...);

/* Says of descriptors, mappings and memory that the library has not given back. */
void faults_check_leaks(void);

#endif
