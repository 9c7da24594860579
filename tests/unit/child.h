/*
 * Children that report through their exit status: 0, or the line of the check that failed.
 */
#ifndef CHILD_H
#define CHILD_H

#include "temporary.h"

#include <sys/wait.h>
#include <unistd.h>

/* In a child, where cmocka's asserts would run the rest of the tests twice. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            _exit(__LINE__ % 250 + 1);                                                             \
    } while (0)

static inline void assert_child_succeeds(pid_t child)
{
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#endif
