/*
 * Where the file system can, the file has no name while it is written, so that nothing stays
 * behind of a process that is killed. A name is needed for a moment even then: only a rename
 * replaces a file.
 */
#define _GNU_SOURCE
#include "platform/c_library.h"

#include "tool/whole_file.h"

#include "tool/messages.h"
#include "tool/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODE = 0666 }; /* less the umask */

static char *directory_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    if (slash == NULL)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static int open_unnamed(const char *path)
{
    char *const directory = directory_of(path);
    if (directory == NULL)
        return -1;
    const int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, MODE);
    free(directory);
    return fd;
}

/* errno stays as it is. */
static void forget_name(struct whole_file *file)
{
    const int error = errno;
    if (file->temporary != NULL)
        unfinished_forget(file->temporary);
    free(file->temporary);
    file->temporary = NULL;
    errno = error;
}

static bool choose_name(struct whole_file *file)
{
    if (asprintf(&file->temporary, "%s.%ld", file->path, (long)getpid()) < 0)
        file->temporary = NULL;
    if (file->temporary != NULL && unfinished_add(file->temporary))
        return true;
    forget_name(file);
    errno = ENOMEM;
    return false;
}

static int open_named(struct whole_file *file)
{
    if (!choose_name(file))
        return -1;
    const int fd =
        open(file->temporary, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, MODE);
    if (fd < 0)
        forget_name(file);
    return fd;
}

static bool is_dump(const char *path)
{
    char magic[4] = "";
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const bool read_all = fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic);
    if (fd >= 0)
        close(fd);
    return read_all && (memcmp(magic, "JiTD", 4) == 0 || memcmp(magic, "DTiJ", 4) == 0);
}

/* Not a symbolic link, which the rename would replace: /dev/stdout is one. And not a dump: there is no
 * other copy of it, and nothing that this tool makes is one. */
static bool can_be_replaced(const char *path)
{
    struct stat status;
    const char *what = NULL;
    if (strcmp(path, "-") == 0)
        what = "standard output is no file";
    else if (lstat(path, &status) != 0)
        return true;
    else if (S_ISLNK(status.st_mode))
        what = "is a symbolic link";
    else if (!S_ISREG(status.st_mode))
        what = "is no regular file";
    else if (is_dump(path))
        what = "is a dump";
    if (what != NULL)
        complain("%s: %s; give another name", path, what);
    return what == NULL;
}

bool whole_file_open(struct whole_file *file, const char *path)
{
    *file = (struct whole_file){.fd = -1, .path = path};
    if (!can_be_replaced(path))
        return false;
    file->fd = open_unnamed(path);
    if (file->fd < 0)
        file->fd = open_named(file);
    if (file->fd < 0)
        complain("%s: %s", path, strerror(errno));
    return file->fd >= 0;
}

static bool give_name(struct whole_file *file)
{
    char link[64];
    if (file->temporary != NULL)
        return true;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", file->fd);
    if (!choose_name(file))
        return false;
    if (linkat(AT_FDCWD, link, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) == 0)
        return true;
    forget_name(file);
    return false;
}

bool whole_file_finish(struct whole_file *file)
{
    if (!give_name(file) || rename(file->temporary, file->path) != 0) {
        complain("%s: %s", file->path, strerror(errno));
        whole_file_drop(file);
        return false;
    }
    forget_name(file);
    if (close(file->fd) != 0) {
        complain("%s: %s", file->path, strerror(errno));
        return false;
    }
    return true;
}

void whole_file_drop(struct whole_file *file)
{
    if (file->temporary != NULL)
        unlink(file->temporary);
    forget_name(file);
    close(file->fd);
}
