/*
 * The functions of macos.h, by what Linux has. They are what the library does not share between the two
 * systems, so what is tried with them is all else.
 */
#define _GNU_SOURCE
#include "libproc.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t clock_gettime_nsec_np(clockid_t clock);
int pthread_threadid_np(void *thread, uint64_t *id);
int issetugid(void);
int __ulock_wait(uint32_t operation, void *address, uint64_t expected, uint32_t timeout_us);
int __ulock_wake(uint32_t operation, void *address, uint64_t unused);

uint64_t clock_gettime_nsec_np(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* More than 32 bits, as macOS's may have. */
int pthread_threadid_np(void *thread, uint64_t *id)
{
    (void)thread;
    *id = UINT64_C(1) << 32 | (uint64_t)syscall(SYS_gettid);
    return 0;
}

int issetugid(void)
{
    return getauxval(AT_SECURE) != 0;
}

/* A process's folder in /proc is as old as the process, or younger. */
int proc_pidinfo(int pid, int flavor, uint64_t argument, void *buffer, int size)
{
    struct proc_bsdinfo *info = buffer;
    struct stat status;
    if (pid != getpid() || flavor != PROC_PIDTBSDINFO || argument != 0 ||
        size != (int)sizeof(*info) || stat("/proc/self", &status) != 0)
        return 0;
    info->pbi_start_tvsec = (uint64_t)status.st_ctim.tv_sec;
    info->pbi_start_tvusec = (uint64_t)status.st_ctim.tv_nsec / 1000;
    return size;
}

/* 1: compare and wait; 0x1000000: the error in the result, which is all that the library asks for. */
int __ulock_wait(uint32_t operation, void *address, uint64_t expected, uint32_t timeout_us)
{
    const struct timespec timeout = {timeout_us / 1000000, timeout_us % 1000000 * 1000};
    if (operation != 0x1000001 || expected > UINT32_MAX)
        return -EINVAL;
    const int saved_errno = errno;
    const long result = syscall(SYS_futex, address, FUTEX_WAIT_PRIVATE, (uint32_t)expected,
                                timeout_us == 0 ? NULL : &timeout);
    const int error_number = errno;
    errno = saved_errno;
    return result < 0 ? -error_number : (int)result;
}

/* 0x100: all. */
int __ulock_wake(uint32_t operation, void *address, uint64_t unused)
{
    (void)unused;
    if (operation != 0x1000101)
        return -EINVAL;
    const int saved_errno = errno;
    const long result = syscall(SYS_futex, address, FUTEX_WAKE_PRIVATE, INT_MAX);
    errno = saved_errno;
    return result > 0 ? 0 : -ENOENT;
}
