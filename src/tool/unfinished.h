/*
 * What must not stay behind where Ctrl-C, SIGTERM or the end of the terminal ends the program, or a file that is
 * cut shorter while it is read.
 */
#ifndef JITDUMP_TOOL_UNFINISHED_H
#define JITDUMP_TOOL_UNFINISHED_H

#include <signal.h>
#include <stdbool.h>

/* A file, or a folder that is empty when all that was added later is gone; to be called before it is made, or
 * with signals held. False: out of memory. */
bool unfinished_add(const char *path);

/* That, and what lies below it, may stay, or is gone. */
void unfinished_forget(const char *path);

/* All of it goes, now: for a signal that comes of reading, which none of these functions does, and ends the program.
 * Async-signal-safe. */
void unfinished_remove(void);

/* Those signals wait until the mask is put back. */
void unfinished_hold(sigset_t *before);
void unfinished_release(const sigset_t *before);

#endif
