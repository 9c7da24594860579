#include "../platform/c_library.h"

#include "host_process.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long the exit waits for a call in another thread that opens or closes. */
#define EXIT_TIMEOUT_S 1

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct process_member *members;

/* Changed in a fork's child alone, before it has a second thread. */
static uint32_t fork_count;

/* The id of a thread, and as of how many forks: the child's thread is another. */
static _Thread_local uint32_t thread_id;
static _Thread_local uint32_t thread_id_fork_count;

void jd_process_lock(void)
{
    pthread_mutex_lock(&lock);
}

void jd_process_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static void after_fork_in_child(void)
{
    fork_count++;
    for (struct process_member *member = members; member != NULL; member = member->next)
        member->after_fork(member);
    jd_process_unlock();
}

bool jd_process_watch_forks(void)
{
    static bool watching;
    if (!watching)
        watching = pthread_atfork(jd_process_lock, jd_process_unlock, after_fork_in_child) == 0;
    return watching;
}

void jd_process_add(struct process_member *member)
{
    member->next = members;
    members = member;
}

void jd_process_remove(struct process_member *member)
{
    struct process_member **link = &members;
    while (*link != member)
        link = &(*link)->next;
    *link = member->next;
}

/* A destructor, not atexit(): it runs after the program's own exit functions, which may
 * still generate code, and when the library is unloaded. Who holds the lock may be the thread that
 * exits, from a signal handler: then nothing is flushed, but the process ends. */
__attribute__((destructor)) static void at_exit(void)
{
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += EXIT_TIMEOUT_S;
    if (pthread_mutex_timedlock(&lock, &deadline) != 0)
        return;
    for (struct process_member *member = members; member != NULL; member = member->next)
        member->at_exit(member);
    jd_process_unlock();
}

/* By the kernel's word: not all C libraries have secure_getenv(). */
const char *jd_process_getenv(const char *name)
{
    return getauxval(AT_SECURE) != 0 ? NULL : getenv(name);
}

/* Without the macro the C library has no cancellation, as Android's, and nothing is to be held off. */
struct process_shield jd_process_shield(void)
{
    struct process_shield shield = {.saved_errno = errno};
#ifdef PTHREAD_CANCEL_DISABLE
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &shield.cancel_state);
#endif
    return shield;
}

void jd_process_unshield(struct process_shield shield)
{
#ifdef PTHREAD_CANCEL_DISABLE
    pthread_setcancelstate(shield.cancel_state, NULL);
#endif
    errno = shield.saved_errno;
}

uint32_t jd_process_thread_id(void)
{
    if (thread_id == 0 || thread_id_fork_count != fork_count) {
        thread_id = (uint32_t)syscall(SYS_gettid);
        thread_id_fork_count = fork_count;
    }
    return thread_id;
}
