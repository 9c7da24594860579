/*
 * Stands in for open() and fopen() as the library does which samply puts into a process of macOS, and for
 * no other function: what is like a dump's path is announced before it is opened.
 *
 * To be preloaded. An announcement is a line of $ANNOUNCED, the file's size (-1: there is none) and the path;
 * and what the call has opened is mapped executable, by which samply on Linux hears of it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES_MAX 244 /* the room in samply's message */

static int is_like_a_dump(const char *path)
{
    const size_t size = strlen(path);
    const char *const slash = strrchr(path, '/');
    return size <= PATH_BYTES_MAX && size >= 5 && strcmp(path + size - 5, ".dump") == 0 &&
           strncmp(slash != NULL ? slash + 1 : path, "jit-", 4) == 0;
}

static void announce(const char *path)
{
    const char *const log = getenv("ANNOUNCED");
    if (log == NULL || !is_like_a_dump(path))
        return;
    struct stat status;
    const long long size = stat(path, &status) == 0 ? (long long)status.st_size : -1;
    const int fd = openat(AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    dprintf(fd, "%lld %s\n", size, path);
    close(fd);
}

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if ((flags & O_CREAT) != 0) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    announce(path);
    const int fd = openat(AT_FDCWD, path, flags, mode);
    if (fd >= 0 && is_like_a_dump(path))
        mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    return fd;
}

FILE *fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *);
    *(void **)&next = dlsym(RTLD_NEXT, "fopen");
    announce(path);
    return next(path, mode);
}
