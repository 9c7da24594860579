/*
 * A profile that went through a pipe (perf record -o -) as a file: there, attributes and features are
 * events; in a file they have places of their own.
 */
#ifndef JITDUMP_INJECT_PIPE_PROFILE_H
#define JITDUMP_INJECT_PIPE_PROFILE_H

#include "reader/perf_data.h"
#include "reader/problem.h"

bool jd_is_pipe_profile(struct span bytes);

enum pipe_error {
    PIPE_OK,
    PIPE_NOT_READABLE, /* `problem` says why */
    PIPE_NOT_WRITTEN   /* see errno */
};

/* Writes into the file, which must be empty. */
enum pipe_error jd_pipe_profile_write(int fd, struct span bytes, struct problem *problem);

#endif
