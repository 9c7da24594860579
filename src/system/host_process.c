#include "../platform/c_library.h"

#include "host_process.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

/* How long the exit waits for a call in another thread that opens or closes. */
#define EXIT_TIMEOUT_S 1

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* At any instant a list as it was before or after a change. All accesses are relaxed but the one
 * that publishes a member to a child: whoever else looks holds the lock. */
static struct process_member *_Atomic members;

/* The process that all this belongs to; 0 before the first lock. In a child it is the parent until
 * enter_child(). Relaxed: of a process with several threads it is the same to all. */
static _Atomic pid_t owner;

/* Since the last fork began. For a child in a new pid namespace, of the parent's own pid. */
static _Atomic bool has_entered;

/* Changed in a fork's child alone, before it has a second thread. */
static uint32_t fork_count;

/* In the child, while it has one thread. The lock's holder, if there was one, is not in it. */
static void enter_child(void)
{
    atomic_store_explicit(&owner, getpid(), memory_order_relaxed);
    atomic_store_explicit(&has_entered, true, memory_order_relaxed);
    pthread_mutex_init(&lock, NULL);
    fork_count++;
    for (struct process_member *member = atomic_load_explicit(&members, memory_order_relaxed);
         member != NULL; member = atomic_load_explicit(&member->next, memory_order_relaxed))
        member->after_fork(member);
}

void jd_process_lock(void)
{
    pid_t known = atomic_load_explicit(&owner, memory_order_relaxed);
    const pid_t self = getpid();
    if (known == 0)
        atomic_compare_exchange_strong(&owner, &known, self);
    else if (known != self)
        enter_child();
    pthread_mutex_lock(&lock);
}

void jd_process_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* Where the pid is the parent's, it is the parent. */
void jd_process_after_fork(void)
{
    const pid_t known = atomic_load_explicit(&owner, memory_order_relaxed);
    if (known != 0 && known != getpid())
        enter_child();
}

static void before_fork(void)
{
    atomic_store_explicit(&has_entered, false, memory_order_relaxed);
}

/* Handlers that were registered before ours have run before it, and may have emitted. */
static void after_fork_in_child(void)
{
    if (!atomic_load_explicit(&has_entered, memory_order_relaxed))
        enter_child();
}

bool jd_process_watch_forks(void)
{
    static bool watching;
    if (!watching)
        watching = pthread_atfork(before_fork, NULL, after_fork_in_child) == 0;
    return watching;
}

void jd_process_add(struct process_member *member)
{
    atomic_store_explicit(&member->next, atomic_load_explicit(&members, memory_order_relaxed),
                          memory_order_relaxed);
    /* Releases the member to enter_child(), which is the next to look at it if a fork comes now. */
    atomic_store_explicit(&members, member, memory_order_release);
}

void jd_process_remove(struct process_member *member)
{
    struct process_member *_Atomic *link = &members;
    while (atomic_load_explicit(link, memory_order_relaxed) != member)
        link = &atomic_load_explicit(link, memory_order_relaxed)->next;
    atomic_store_explicit(link, atomic_load_explicit(&member->next, memory_order_relaxed),
                          memory_order_relaxed);
}

/* macOS has no pthread_mutex_timedlock(). */
static bool lock_before_exit(void)
{
#if defined(__APPLE__)
    const struct timespec moment = {.tv_nsec = 1000000};
    int moments = EXIT_TIMEOUT_S * 1000;
    while (pthread_mutex_trylock(&lock) != 0) {
        if (moments-- == 0)
            return false;
        nanosleep(&moment, NULL);
    }
    return true;
#else
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += EXIT_TIMEOUT_S;
    return pthread_mutex_timedlock(&lock, &deadline) == 0;
#endif
}

/* A destructor, not atexit(): it runs after the program's own exit functions, which may
 * still generate code, and when the library is unloaded. Who holds the lock may be the thread that
 * exits, from a signal handler: then nothing is flushed, but the process ends. */
__attribute__((destructor)) static void at_exit(void)
{
    /* In a child that never used a dump, or that of a vfork, nothing is to be flushed. */
    if (atomic_load_explicit(&owner, memory_order_relaxed) != getpid())
        return;
    if (!lock_before_exit())
        return;
    for (struct process_member *member = atomic_load_explicit(&members, memory_order_relaxed);
         member != NULL; member = atomic_load_explicit(&member->next, memory_order_relaxed))
        if (member->at_exit != NULL)
            member->at_exit(member);
    jd_process_unlock();
}

uint32_t jd_process_fork_count(void)
{
    return fork_count;
}
