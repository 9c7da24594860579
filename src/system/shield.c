#include "../platform/c_library.h"

#include "shield.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#if defined(__APPLE__)
#include <unistd.h>
#else
#include <sys/auxv.h>
#endif

/* By the kernel's word: not all C libraries have secure_getenv(). */
const char *jd_process_getenv(const char *name)
{
#if defined(__APPLE__)
    return issetugid() != 0 ? NULL : getenv(name);
#else
    return getauxval(AT_SECURE) != 0 ? NULL : getenv(name);
#endif
}

/* Without the macro the C library has no cancellation, as Android's, and nothing is to be held off. */
struct process_shield jd_process_shield(void)
{
    struct process_shield shield = {.saved_errno = errno};
#ifdef PTHREAD_CANCEL_DISABLE
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &shield.cancel_state);
#endif
    return shield;
}

void jd_process_unshield(struct process_shield shield)
{
#ifdef PTHREAD_CANCEL_DISABLE
    pthread_setcancelstate(shield.cancel_state, NULL);
#endif
    errno = shield.saved_errno;
}
