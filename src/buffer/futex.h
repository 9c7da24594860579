/*
 * Sleeping until a 32-bit word changes: the one way in which this library waits.
 *
 * futex(2) is used directly, because its words can be shared between the hot path
 * and the sleepers: an appender that wakes nobody makes no system call and takes
 * no lock. macOS has the same in the calls that libc++'s std::atomic::wait() makes; what is in its
 * headers, os_sync_wait_on_address(), is from macOS 14.4 on.
 */
#ifndef JITDUMP_FUTEX_H
#define JITDUMP_FUTEX_H

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>

#define FUTEX_FOREVER UINT64_MAX

/* Two functions: futex_wait() sleeps while `*word` is `expected`, at most `timeout_ns`, and may return
 * early; futex_wake() wakes all who sleep on `word`, and may be called in a signal handler. */

#if defined(__APPLE__)

int __ulock_wait(uint32_t operation, void *address, uint64_t expected, uint32_t timeout_us);
int __ulock_wake(uint32_t operation, void *address, uint64_t unused);

enum {
    ULOCK_COMPARE_AND_WAIT = 1,
    ULOCK_WAKE_ALL = 0x100,
    ULOCK_NO_ERRNO = 0x1000000
};

static inline void futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
    /* 0: for ever. More than it can say is 71 minutes. */
    uint64_t timeout_us = 0;
    if (timeout_ns != FUTEX_FOREVER)
        timeout_us = timeout_ns / 1000 < UINT32_MAX ? timeout_ns / 1000 + 1 : UINT32_MAX;
    __ulock_wait(ULOCK_COMPARE_AND_WAIT | ULOCK_NO_ERRNO, (void *)word, expected,
                 (uint32_t)timeout_us);
}

static inline void futex_wake(_Atomic uint32_t *word)
{
    __ulock_wake(ULOCK_COMPARE_AND_WAIT | ULOCK_WAKE_ALL | ULOCK_NO_ERRNO, (void *)word, 0);
}

#else

#include <sys/syscall.h>
#include <unistd.h>

/* From linux/futex.h, which a C library need not ship. */
enum {
    FUTEX_OP_WAIT_PRIVATE = 0 | 128,
    FUTEX_OP_WAKE_PRIVATE = 1 | 128
};

/* The timespec of the plain futex call: the kernel's long, whatever time_t is. */
struct futex_timespec {
    long tv_sec;
    long tv_nsec;
};

static inline void futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
    const struct futex_timespec timeout = {(long)(timeout_ns / 1000000000u),
                                           (long)(timeout_ns % 1000000000u)};
    const int saved_errno = errno;
    syscall(SYS_futex, word, FUTEX_OP_WAIT_PRIVATE, expected,
            timeout_ns == FUTEX_FOREVER ? NULL : &timeout);
    errno = saved_errno;
}

static inline void futex_wake(_Atomic uint32_t *word)
{
    const int saved_errno = errno;
    syscall(SYS_futex, word, FUTEX_OP_WAKE_PRIVATE, INT_MAX);
    errno = saved_errno;
}

#endif

#endif
