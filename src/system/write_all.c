/*
 * A write at RLIMIT_FSIZE sends the writing thread a SIGXFSZ, which kills the process unless
 * the program has provided for it. Asking for the limit beforehand costs as much as blocking the
 * signal, and leaves a moment in which the limit can change: so the signal is blocked, and taken
 * back if it was sent.
 *
 * macOS sends it to the process instead, that is to any thread which has not blocked it, but only if the
 * descriptor is at the limit already; a write that begins below comes back short. So there the limit
 * is asked for, with that moment. SIGPIPE can't be held off there.
 */
#include "../platform/c_library.h"

#include "write_all.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#if defined(__APPLE__)

struct signal_block {
    bool from_limit;
};

static struct signal_block block_signal(int signal)
{
    return (struct signal_block){.from_limit = signal == SIGXFSZ};
}

static void unblock_signal(const struct signal_block *block, bool sent)
{
    (void)block;
    (void)sent;
}

static ssize_t write_once(const struct signal_block *block, int fd, const struct iovec *bytes, int count)
{
    struct rlimit limit;
    if (block->from_limit && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY && lseek(fd, 0, SEEK_CUR) >= (off_t)limit.rlim_cur) {
        errno = EFBIG;
        return -1;
    }
    return writev(fd, bytes, count);
}

#else

struct signal_block {
    sigset_t signal;
    sigset_t mask_before;
    bool blocked; /* false: not asked for, or the process may not change its mask */
    bool pending_before;
};

static struct signal_block block_signal(int signal)
{
    struct signal_block block = {.blocked = false};
    sigemptyset(&block.signal);
    if (signal == 0)
        return block;
    sigaddset(&block.signal, signal);
    block.blocked = pthread_sigmask(SIG_BLOCK, &block.signal, &block.mask_before) == 0;
    sigset_t pending;
    /* Only where the program has blocked it can one be pending, which is then the program's. */
    if (block.blocked && sigismember(&block.mask_before, signal) && sigpending(&pending) == 0)
        block.pending_before = sigismember(&pending, signal);
    return block;
}

static void unblock_signal(const struct signal_block *block, bool sent)
{
    if (!block->blocked)
        return;
    const struct timespec now = {0};
    if (sent && !block->pending_before)
        while (sigtimedwait(&block->signal, NULL, &now) < 0 && errno == EINTR)
            continue;
    pthread_sigmask(SIG_SETMASK, &block->mask_before, NULL);
}

static ssize_t write_once(const struct signal_block *block, int fd, const struct iovec *bytes, int count)
{
    (void)block;
    return writev(fd, bytes, count);
}

#endif

size_t jd_write_all(int fd, const struct iovec *bytes, int count, int signal)
{
    struct iovec rest[2] = {bytes[0], bytes[count - 1]};
    const size_t size = bytes[0].iov_len + (count == 2 ? bytes[1].iov_len : 0);
    size_t written = 0;
    const struct signal_block block = block_signal(signal);
    int error_number = 0;
    while (written < size) {
        const ssize_t result = write_once(&block, fd, rest, count);
        if (result < 0 && errno == EINTR)
            continue;
        if (result <= 0) {
            error_number = result < 0 ? errno : ENOSPC; /* a regular file that takes nothing */
            break;
        }
        written += (size_t)result;
        size_t done = (size_t)result;
        for (int i = 0; i < count; i++) {
            const size_t step = done < rest[i].iov_len ? done : rest[i].iov_len;
            rest[i].iov_base = (char *)rest[i].iov_base + step;
            rest[i].iov_len -= step;
            done -= step;
        }
    }
    unblock_signal(&block, error_number == (signal == SIGPIPE ? EPIPE : EFBIG));
    errno = error_number;
    return written;
}
