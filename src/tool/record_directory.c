#define _GNU_SOURCE
#include "tool/record_directory.h"

#include "tool/messages.h"
#include "tool/remove_tree.h"
#include "tool/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* A profile tells of its user's programs, and readers trust dumps: nobody else may look, or
 * write. */
enum { MODE = 0700, NUMBER_MAX = 9999 };

static bool fail(const char *path, int error)
{
    complain("%s: %s", path, strerror(error));
    return false;
}

static bool make_numbered(struct record_directory *directory, char *path, size_t size)
{
    for (int number = 1; number <= NUMBER_MAX; number++) {
        snprintf(path, size, "jitdump-record-%d", number);
        if (mkdir(path, MODE) == 0) {
            directory->made = true;
            return true;
        }
        if (errno != EEXIST)
            break;
    }
    return fail(path, errno);
}

static bool is_empty(const char *path)
{
    DIR *const listing = opendir(path);
    if (listing == NULL)
        return fail(path, errno);
    const struct dirent *entry;
    do
        entry = readdir(listing);
    while (entry != NULL && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    closedir(listing);
    if (entry != NULL)
        complain("%s: is not empty, and nothing in it is overwritten; name another directory", path);
    return entry == NULL;
}

static bool make_named(struct record_directory *directory, const char *path)
{
    directory->made = mkdir(path, MODE) == 0;
    if (directory->made)
        return true;
    return errno == EEXIST ? is_empty(path) : fail(path, errno);
}

/* perf learns of a dump by its being mapped executable. */
static bool permits_dumps(const char *path)
{
    struct statvfs status;
    if (statvfs(path, &status) != 0 || (status.f_flag & ST_NOEXEC) == 0)
        return true;
    complain("%s: the file system is mounted noexec, and dumps could not be mapped there; name "
             "another directory with -o",
             path);
    return false;
}

static bool name_files(struct record_directory *directory, const char *path)
{
    directory->path = realpath(path, NULL);
    if (directory->path == NULL)
        return fail(path, errno);
    if (asprintf(&directory->recorded, "%s/recorded.data", directory->path) < 0)
        directory->recorded = NULL;
    if (asprintf(&directory->profile, "%s/perf.data", directory->path) < 0)
        directory->profile = NULL;
    if (directory->recorded == NULL || directory->profile == NULL)
        complain("out of memory");
    return directory->recorded != NULL && directory->profile != NULL;
}

static bool note_unfinished(const struct record_directory *directory)
{
    return !directory->made || unfinished_add(directory->path) || fail(directory->path, ENOMEM);
}

static bool make(struct record_directory *directory, const char *path)
{
    char numbered[32];
    *directory = (struct record_directory){0};
    if (path == NULL ? !make_numbered(directory, numbered, sizeof(numbered))
                     : !make_named(directory, path))
        return false;
    const char *const name = path != NULL ? path : numbered;
    if (permits_dumps(name) && name_files(directory, name) && note_unfinished(directory))
        return true;
    if (directory->made)
        rmdir(name);
    record_directory_free(directory);
    return false;
}

bool record_directory_make(struct record_directory *directory, const char *path)
{
    sigset_t before;
    unfinished_hold(&before);
    const bool made = make(directory, path);
    unfinished_release(&before);
    return made;
}

void record_directory_remove(const struct record_directory *directory)
{
    remove_tree(directory->recorded);
    if (directory->made)
        rmdir(directory->path);
}

void record_directory_free(struct record_directory *directory)
{
    free(directory->path);
    free(directory->recorded);
    free(directory->profile);
    *directory = (struct record_directory){0};
}
