/*
 * What the library must not do to the process that it is in.
 */
#ifndef JITDUMP_SHIELD_H
#define JITDUMP_SHIELD_H

#pragma GCC visibility push(hidden)

/* The environment's; NULL in a program that runs with more rights than its user has, setuid say. */
const char *jd_process_getenv(const char *name);

/* Between these two, the calling thread can't be cancelled; errno is afterwards what it was
 * before. Around everything that makes system calls or allocates. */
struct process_shield {
    int saved_errno;
    int cancel_state;
};
struct process_shield jd_process_shield(void);
void jd_process_unshield(struct process_shield shield);

#pragma GCC visibility pop

#endif
