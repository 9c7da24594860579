/*
 * A new file of ours at a path that others may know: never through a symbolic link, never
 * over anything but a stale file of the same kind.
 */
#ifndef JITDUMP_NEW_FILE_H
#define JITDUMP_NEW_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#pragma GCC visibility push(hidden)

/* A file made here, and which one it is. The program may have closed the descriptor, by
 * closefrom(3) say, and its number be another file's by now: nothing is done through it before that
 * was looked at. Between the look and the deed there is a moment for other threads, which can't be
 * helped. */
struct new_file {
    int fd; /* -1: none */
    bool is_joined; /* a living rival's */
    int signal;     /* what a write must not send, as for jd_write_all() */
    /* As stat() has them: Android's dev_t and ino_t have 32 bits in 32-bit processes. */
    uint64_t device;
    uint64_t inode;
    /* Where the last append ended, by which the descriptor is known first; -1: unknown. Only a
     * hint, hence relaxed: of two threads that append either may be the last to say. */
    _Atomic int64_t position;
};

#define NEW_FILE_NONE ((struct new_file){.fd = -1, .position = -1})

/* What else has the right to be at a path. */
enum new_file_rival {
    /* Nothing: others have no files of such names. */
    NEW_FILE_NO_RIVAL,
    /* A dump of another emitter in this process, which locks nothing. */
    NEW_FILE_IN_PROCESS,
    /* A perf map of another emitter in this process, to which we append. */
    NEW_FILE_TO_JOIN
};

/* Creates the file, mode 0600, open for reading and appending, and locked; the descriptor is none
 * of 0 to 2. A stale file is removed first: a regular one of this user's that nobody holds a lock
 * on and that is no living rival. A living one that is to be joined is opened instead, and keeps its
 * mode. Returns 0, or an error, of which errno tells more where a system call failed. */
int jd_new_file_open(const char *path, enum new_file_rival rival, int signal,
                     struct new_file *file);

/* Takes a file that the program has opened, through a descriptor of our own: a regular one, empty,
 * open for reading and writing. Returns as jd_new_file_open(). */
int jd_new_file_adopt(int descriptor, int signal, struct new_file *file);

/* Whether the descriptor still is the file's. */
bool jd_new_file_is_open(const struct new_file *file);

/* As jd_write_all(); with errno EBADF, where the descriptor is the file's no more. */
size_t jd_new_file_append(struct new_file *file, const struct iovec *bytes, int count);

/* Removes it, if it was made here and the path still leads to it: what someone else has put there is
 * not ours to remove. */
void jd_new_file_unlink(const char *path, const struct new_file *file);

/* Puts a file of these bytes in its place, if the path still leads to it; who has it open keeps it
 * as it is. Where no file can be made, it is itself cut back to as many bytes, so it must begin with
 * bytes that will do as well. Returns 0 or an errno. */
int jd_new_file_replace(const char *path, const struct new_file *file, const void *bytes,
                        size_t size);

/* Cuts it back to its first `size` bytes. Returns 0 or an errno. */
int jd_new_file_cut(const struct new_file *file, size_t size);

/* Closes it and gives up its name, although a child that is just being started may still have
 * the descriptor, and the lock with it. False: a network file system says only now that not all
 * could be written. */
bool jd_new_file_close(struct new_file *file);

/* In the child of a fork: closes it without giving up the name, which is the parent's.
 * Async-signal-safe. */
void jd_new_file_abandon(struct new_file *file);

/* The error for a system call on a file that failed with `error_number`. */
int jd_new_file_error(int error_number);

#pragma GCC visibility pop

#endif
