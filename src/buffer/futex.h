/*
 * Sleeping until a 32-bit word changes: the one way in which this library waits.
 *
 * futex(2) is used directly, because its words can be shared between the hot path
 * and the sleepers: an appender that wakes nobody makes no system call and takes
 * no lock.
 */
#ifndef JITDUMP_FUTEX_H
#define JITDUMP_FUTEX_H

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From linux/futex.h, which a C library need not ship. */
enum {
    FUTEX_OP_WAIT_PRIVATE = 0 | 128,
    FUTEX_OP_WAKE_PRIVATE = 1 | 128
};

#define FUTEX_FOREVER UINT64_MAX

/* The timespec of the plain futex call: the kernel's long, whatever time_t is. */
struct futex_timespec {
    long tv_sec;
    long tv_nsec;
};

/* Sleeps while `*word` is `expected`, at most `timeout_ns`. May return early. */
static inline void futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
    const struct futex_timespec timeout = {(long)(timeout_ns / 1000000000u),
                                           (long)(timeout_ns % 1000000000u)};
    const int saved_errno = errno;
    syscall(SYS_futex, word, FUTEX_OP_WAIT_PRIVATE, expected,
            timeout_ns == FUTEX_FOREVER ? NULL : &timeout);
    errno = saved_errno;
}

/* Wakes all who sleep on `word`. */
static inline void futex_wake(_Atomic uint32_t *word)
{
    const int saved_errno = errno;
    syscall(SYS_futex, word, FUTEX_OP_WAKE_PRIVATE, INT_MAX);
    errno = saved_errno;
}

#endif
