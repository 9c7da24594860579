/*
 * What in a file can't be read as it stands: told, with its place, to whoever wants to know, and
 * left out of what is read.
 */
#ifndef JITDUMP_READER_PROBLEM_H
#define JITDUMP_READER_PROBLEM_H

#include <stddef.h>
#include <stdint.h>

struct problem {
    uint64_t offset; /* in the file */
    const char *reason; /* a static text, a sentence without its full stop */
};

struct problems {
    /* NULL: nobody wants to know. As in struct problem. */
    void (*tell)(void *context, uint64_t offset, const char *reason);
    void *context;
    /* NULL: nobody wants to know how far the reading of a large file is, in bytes. */
    void (*progress)(void *context, uint64_t done, uint64_t whole);
};

/* In both functions `problems` may be NULL. */
static inline void tell_problem(const struct problems *problems, uint64_t offset, const char *reason)
{
    if (problems != NULL && problems->tell != NULL)
        problems->tell(problems->context, offset, reason);
}

static inline void tell_progress(const struct problems *problems, uint64_t done, uint64_t whole)
{
    if (problems != NULL && problems->progress != NULL)
        problems->progress(problems->context, done, whole);
}

#endif
