/*
 * What in a file can't be read as it stands: told, with its place, to whoever wants to know, and
 * left out of what is read.
 */
#ifndef JITDUMP_READER_PROBLEM_H
#define JITDUMP_READER_PROBLEM_H

#include <stddef.h>
#include <stdint.h>

struct problems {
    /* NULL: nobody wants to know. `offset` is in the file; `reason` a static text, a sentence without
     * its full stop. */
    void (*tell)(void *context, uint64_t offset, const char *reason);
    void *context;
};

/* `problems` may be NULL. */
static inline void tell_problem(const struct problems *problems, uint64_t offset, const char *reason)
{
    if (problems != NULL && problems->tell != NULL)
        problems->tell(problems->context, offset, reason);
}

#endif
