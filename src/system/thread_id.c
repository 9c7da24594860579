#include "../platform/c_library.h"

#include "thread_id.h"

#include "host_process.h"

#if defined(__APPLE__)
#include <pthread.h>
#else
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* The id of a thread, and as of how many forks: the child's thread is another. */
static _Thread_local uint32_t thread_id;
static _Thread_local uint32_t thread_id_fork_count;

static uint32_t ask_thread_id(void)
{
#if defined(__APPLE__)
    /* Counted up from the boot. The format has room for 32 bits, and samply does not look. */
    uint64_t id = 0;
    pthread_threadid_np(NULL, &id);
    return (uint32_t)id;
#else
    return (uint32_t)syscall(SYS_gettid);
#endif
}

uint32_t jd_process_thread_id(void)
{
    if (thread_id == 0 || thread_id_fork_count != jd_process_fork_count()) {
        thread_id = ask_thread_id();
        thread_id_fork_count = jd_process_fork_count();
    }
    return thread_id;
}
