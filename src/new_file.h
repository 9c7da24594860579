/*
 * A new file of ours at a path that others may know: never through a symbolic link, never
 * over anything but a stale file of the same kind.
 */
#ifndef JITDUMP_NEW_FILE_H
#define JITDUMP_NEW_FILE_H

/* Creates the file, mode 0600, open for reading and appending, and locked; the descriptor is none
 * of 0 to 2. A regular file of this user's that nobody holds a lock on is removed first. Returns
 * 0, or an error, of which errno tells more where a system call failed. */
int jd_new_file_open(const char *path, int *fd);

/* Removes it, if the path still leads to it: what someone else has put there is not ours to
 * remove. */
void jd_new_file_unlink(const char *path, int fd);

/* Closes it and gives up its name, although a child that is just being started may still have
 * the descriptor, and the lock with it. */
void jd_new_file_close(int fd);

/* The error for a system call on a file that failed with `error_number`. */
int jd_new_file_error(int error_number);

#endif
