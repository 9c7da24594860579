#define _GNU_SOURCE
#include "directories.h"

#include "faults.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char directories[DUMPS][PATH_MAX - 64];

static void remove_files(const char *directory)
{
    DIR *stream = opendir(directory);
    for (struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(stream), entry->d_name, 0);
    if (stream != NULL)
        closedir(stream);
}

/* Of the process and its children: each input's first pid is the same. */
static void remove_perf_maps(void)
{
    for (uint32_t pid = faults_first_pid(); pid <= faults_pid(); pid++) {
        char path[64];
        snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
        unlink(path);
    }
}

static void remove_all(void)
{
    for (int i = 0; i < DUMPS; i++) {
        remove_files(directories[i]);
        rmdir(directories[i]);
    }
    *strrchr(directories[0], '/') = '\0';
    remove_files(directories[0]);
    rmdir(directories[0]);
}

void directories_make(void)
{
    /* On a disk, the disk would be what is tested. */
    char root[] = "/dev/shm/jitdump-fuzz-XXXXXX", fallback[] = "/tmp/jitdump-fuzz-XXXXXX";
    const char *made = mkdtemp(root);
    if (made == NULL)
        made = mkdtemp(fallback);
    if (made == NULL || chdir(made) != 0) {
        perror("mkdtemp");
        exit(1);
    }
    for (int i = 0; i < DUMPS; i++) {
        snprintf(directories[i], sizeof(directories[i]), "%s/%d", made, i);
        if (mkdir(directories[i], 0700) != 0)
            exit(1);
    }
    atexit(remove_all);
}

void directories_empty(void)
{
    for (int i = 0; i < DUMPS; i++)
        remove_files(directories[i]);
    remove_perf_maps();
}
