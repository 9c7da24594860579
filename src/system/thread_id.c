#include "../platform/c_library.h"

#include "thread_id.h"

#include "host_process.h"

#include <sys/syscall.h>
#include <unistd.h>

/* The id of a thread, and as of how many forks: the child's thread is another. */
static _Thread_local uint32_t thread_id;
static _Thread_local uint32_t thread_id_fork_count;

uint32_t jd_process_thread_id(void)
{
    if (thread_id == 0 || thread_id_fork_count != jd_process_fork_count()) {
        thread_id = (uint32_t)syscall(SYS_gettid);
        thread_id_fork_count = jd_process_fork_count();
    }
    return thread_id;
}
