/*
 * What the process does to the library: fork and exit.
 */
#ifndef JITDUMP_HOST_PROCESS_H
#define JITDUMP_HOST_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Something that must know of forks and of the exit: an open dump. */
struct process_member {
    struct process_member *_Atomic next;
    /* In the child, while it has one thread; what another thread of the parent was about at the
     * fork is half done. May do what is async-signal-safe. */
    void (*after_fork)(struct process_member *member);
    /* At a normal exit, and when the library is unloaded. NULL: nothing. */
    void (*at_exit)(struct process_member *member);
};

/* Between these two, the members don't change, and what they guard is changed in such steps that it
 * can be used after any: a fork may happen, whose child finds it so. (No fork waits for the lock: a
 * runtime's own handlers may wait for threads that want it.) In a child that has not come to our
 * fork handler yet, the first to lock does what that does. */
void jd_process_lock(void);
void jd_process_unlock(void);

/* What the fork handler does in a child, where there is none. */
void jd_process_after_fork(void);

/* With the lock held, before the first member is added that relies on it. False: out of memory, so that a child might
 * go on writing into its parent's dump. */
bool jd_process_watch_forks(void);

/* With the lock held. */
void jd_process_add(struct process_member *member);
void jd_process_remove(struct process_member *member);

/* How many forks lie between the process and the one that loaded the library. */
uint32_t jd_process_fork_count(void);

#pragma GCC visibility pop

#endif
