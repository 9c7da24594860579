/*
 * Children that report through their exit status: 0, or the line of the check that failed.
 */
#ifndef CHILD_H
#define CHILD_H

#include "../sanitizer.h"
#include "temporary.h"

#include <sys/wait.h>
#include <unistd.h>

/* In a child, where cmocka's asserts would run the rest of the tests twice. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            _exit(__LINE__ % 250 + 1);                                                             \
    } while (0)

/* To be called in front of a fork while the library has a thread. The address sanitizers of gcc 12
 * and clang 14 leave the locks of their allocator in a child as they were: held for ever, if it was
 * by a thread that just began. */
static inline void rest_before_fork(void)
{
    if (SANITIZED)
        wait_until_others_sleep();
}

static inline void assert_child_succeeds(pid_t child)
{
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#endif
