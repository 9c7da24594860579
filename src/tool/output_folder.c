#define _GNU_SOURCE
#include "platform/c_library.h"

#include "tool/output_folder.h"

#include "tool/messages.h"
#include "tool/remove_tree.h"
#include "tool/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_MODE = 0777, FILE_MODE = 0666 }; /* less the umask */

static bool is_ours(const char *name)
{
    const size_t size = strlen(name);
    const bool is_dump = size > 5 && strcmp(name + size - 5, ".dump") == 0;
    return strncmp(name, "jit-", 4) == 0 && !is_dump;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static void remove_below(const char *folder, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return;
    remove_tree(path);
    free(path);
}

/* Whether all that is in the folder is ours; removes it, if `remove`. What can't be removed is left,
 * and rmdir() says so. */
static bool look_through(const char *path, bool remove)
{
    DIR *const folder = opendir(path);
    if (folder == NULL)
        return errno == ENOENT;
    bool ours = true;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (is_dots(entry->d_name))
            continue;
        if (!is_ours(entry->d_name))
            ours = false;
        else if (remove)
            remove_below(path, entry->d_name);
    }
    closedir(folder);
    return ours;
}

static char *absolute(const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const name = slash == NULL ? path : slash + 1;
    char *const folder = slash == NULL ? strdup(".")
                         : slash == path ? strdup("/")
                                         : strndup(path, (size_t)(slash - path));
    char *const real = folder != NULL ? realpath(folder, NULL) : NULL;
    char *result = NULL;
    if (real != NULL &&
        asprintf(&result, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name) < 0)
        result = NULL;
    free(folder);
    free(real);
    return result;
}

/* What is in an old folder is removed, and in a folder that everybody can write to anybody may have put
 * something of its name. */
static const char *why_not(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return NULL;
    if (!S_ISDIR(status.st_mode))
        return "is there, and no folder";
    if (status.st_uid != geteuid())
        return "is there, and another user's";
    return look_through(path, false)
               ? NULL
               : "is there, and has other things in it than the files of a profile";
}

/* Who may not read the file may not look into the folder. */
static mode_t mode_like(const char *file)
{
    struct stat status;
    mode_t mode = FOLDER_MODE;
    if (stat(file, &status) != 0)
        return mode;
    if ((status.st_mode & S_IRGRP) == 0)
        mode &= ~(mode_t)S_IRWXG;
    if ((status.st_mode & S_IROTH) == 0)
        mode &= ~(mode_t)S_IRWXO;
    return mode;
}

bool output_folder_open(struct output_folder *folder, const char *path, const char *like)
{
    *folder = (struct output_folder){.path = absolute(path), .mode = mode_like(like)};
    if (folder->path == NULL) {
        complain("%s: %s", path, strerror(errno));
        return false;
    }
    const char *const reason = why_not(folder->path);
    if (reason == NULL)
        return true;
    complain("%s: %s", path, reason);
    free(folder->path);
    *folder = (struct output_folder){0};
    return false;
}

static bool make(struct output_folder *folder)
{
    if (folder->temporary != NULL)
        return true;
    if (asprintf(&folder->temporary, "%s.%ld", folder->path, (long)getpid()) < 0) {
        folder->temporary = NULL;
        complain("out of memory");
        return false;
    }
    if (!unfinished_add(folder->temporary))
        complain("out of memory");
    else if (mkdir(folder->temporary, folder->mode) == 0)
        return true;
    else
        complain("%s: %s", folder->temporary, strerror(errno));
    unfinished_forget(folder->temporary);
    free(folder->temporary);
    folder->temporary = NULL;
    return false;
}

/* `name` is where the path's part in the folder begins. */
static bool make_folders(char *path, char *name)
{
    bool noted = true;
    for (char *slash = name; noted && (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
        *slash = 0;
        noted = unfinished_add(path);
        if (noted)
            mkdir(path, FOLDER_MODE); /* or it is there; else the file can't be opened */
    }
    return noted;
}

int output_folder_file(struct output_folder *folder, const char *name)
{
    char *path;
    int fd = -1;
    if (!make(folder))
        return -1;
    if (asprintf(&path, "%s/%s", folder->temporary, name) < 0) {
        complain("out of memory");
        return -1;
    }
    if (!make_folders(path, path + strlen(folder->temporary) + 1) || !unfinished_add(path)) {
        complain("out of memory");
    } else {
        fd = open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, FILE_MODE);
        if (fd < 0)
            complain("%s: %s", path, strerror(errno));
    }
    free(path);
    return fd;
}

static void remove_folder(const char *path)
{
    look_through(path, true);
    rmdir(path);
}

bool output_folder_finish(struct output_folder *folder)
{
    remove_folder(folder->path);
    if (folder->temporary != NULL && rename(folder->temporary, folder->path) != 0) {
        complain("%s: %s", folder->path, strerror(errno));
        return false;
    }
    if (folder->temporary != NULL) {
        unfinished_forget(folder->temporary);
        free(folder->temporary);
        folder->temporary = folder->path;
        folder->path = NULL;
    }
    return true;
}

void output_folder_keep(struct output_folder *folder)
{
    free(folder->temporary);
    folder->temporary = NULL;
}

void output_folder_drop(struct output_folder *folder)
{
    if (folder->temporary != NULL) {
        remove_folder(folder->temporary);
        unfinished_forget(folder->temporary);
    }
    free(folder->temporary);
    free(folder->path);
    *folder = (struct output_folder){0};
}
