/*
 * Writing to a file of ours, which must not send the process a signal.
 */
#ifndef JITDUMP_WRITE_ALL_H
#define JITDUMP_WRITE_ALL_H

#include <stddef.h>
#include <sys/uio.h>

#pragma GCC visibility push(hidden)

/* Writes one or two pieces, or as much of them as can be: again after EINTR and after a short
 * write. Returns how much; errno tells why it is not all. `signal` does not come of it: SIGXFSZ, where
 * errno is EFBIG, at RLIMIT_FSIZE; or SIGPIPE, where it is EPIPE; 0: the thread's mask is left alone. */
size_t jd_write_all(int fd, const struct iovec *bytes, int count, int signal);

#pragma GCC visibility pop

#endif
