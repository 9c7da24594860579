/*
 * Writing to a file of ours, which must not send the process a signal.
 */
#ifndef JITDUMP_WRITE_ALL_H
#define JITDUMP_WRITE_ALL_H

#include <stddef.h>
#include <sys/uio.h>

#pragma GCC visibility push(hidden)

/* Writes one or two pieces, or as much of them as can be: again after EINTR and after a short
 * write. Returns how much; errno tells why it is not all. At RLIMIT_FSIZE that is EFBIG, and no
 * SIGXFSZ comes. */
size_t jd_write_all(int fd, const struct iovec *bytes, int count);

#pragma GCC visibility pop

#endif
