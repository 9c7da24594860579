/*
 * A new file of ours at a path that others may know: never through a symbolic link, never
 * over anything but a stale file of the same kind.
 */
#ifndef JITDUMP_NEW_FILE_H
#define JITDUMP_NEW_FILE_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Creates the file, mode 0600, open for reading and appending, and locked; the descriptor is none
 * of 0 to 2. A regular file of this user's that nobody holds a lock on is removed first. Returns
 * 0, or an error, of which errno tells more where a system call failed. */
int jd_new_file_open(const char *path, int *fd);

/* Removes it, if the path still leads to it: what someone else has put there is not ours to
 * remove. */
void jd_new_file_unlink(const char *path, int fd);

/* Puts a file of these bytes in its place, if the path still leads to it; who has it open keeps it
 * as it is. Where no file can be made, it is itself cut back to as many bytes, so it must begin with
 * bytes that will do as well. Returns 0 or an errno. */
int jd_new_file_replace(const char *path, int fd, const void *bytes, size_t size);

/* Closes it and gives up its name, although a child that is just being started may still have
 * the descriptor, and the lock with it. False: a network file system says only now that not all
 * could be written. */
bool jd_new_file_close(int fd);

/* The error for a system call on a file that failed with `error_number`. */
int jd_new_file_error(int error_number);

#pragma GCC visibility pop

#endif
