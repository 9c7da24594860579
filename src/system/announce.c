#include "../platform/c_library.h"

#include "announce.h"

#include "jitdump.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__APPLE__)

/* samply has a library in the process that stands in for open() and fopen(), and tells samply of each
 * path like a dump's before it opens it (S17). So nothing else may open a dump by that function:
 * neither a stale one nor the new one before it is whole. That this open succeeds does not matter. A
 * file of the program's was announced by the program's own open, or is not. */
int jd_announce(struct announcement *announcement, const char *path, int fd)
{
    (void)fd;
    announcement->marker = NULL;
    const int opened =
        path == NULL ? -1 : open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (opened >= 0)
        close(opened);
    return 0;
}

#else

/* An executable mapping of the file is the event by which perf and samply find it, and
 * stays until close for those that are attached later. */
int jd_announce(struct announcement *announcement, const char *path, int fd)
{
    (void)path;
    announcement->marker_size = (size_t)sysconf(_SC_PAGESIZE);
    announcement->marker =
        mmap(NULL, announcement->marker_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    if (announcement->marker != MAP_FAILED)
        return 0;
    announcement->marker = NULL;
    /* EPERM: mounted noexec. EACCES: a security policy. */
    return errno == EPERM || errno == EACCES ? JITDUMP_ERROR_DIRECTORY_NOEXEC
           : errno == ENOMEM                 ? JITDUMP_ERROR_NO_MEMORY
                                             : JITDUMP_ERROR_IO;
}

#endif

void jd_announce_end(struct announcement *announcement)
{
    void *const marker = announcement->marker;
    announcement->marker = NULL; /* before, so that the child of a fork that comes now leaves it alone */
    if (marker != NULL)
        munmap(marker, announcement->marker_size);
}
