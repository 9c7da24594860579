#include "platform/c_library.h"

#include "tool/inject_parts.h"

#include "tool/input.h"
#include "tool/messages.h"
#include "tool/temporary.h"

#include "inject/plain_profile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct parts {
    struct profile_part *list;
    struct mapped_file *files;    /* of each but the first */
    struct mapped_file *unpacked; /* of each */
    char **paths;                 /* of each but the first */
    uint32_t count;
    const char *path; /* the first's */
};

static const char *path_of(const struct parts *parts, uint32_t i)
{
    return i == 0 ? parts->path : parts->paths[i];
}

static bool no_memory(void)
{
    complain("out of memory");
    return false;
}

static bool unreadable(const struct parts *parts, uint32_t i, struct problem problem)
{
    complain("%s: at offset 0x%" PRIx64 ": %s", path_of(parts, i), problem.offset, problem.reason);
    return false;
}

/* Files */

static bool make_room(struct parts *parts)
{
    const size_t room = (size_t)parts->count + 1;
    void *const list = realloc(parts->list, room * sizeof(*parts->list));
    if (list != NULL)
        parts->list = list;
    void *const files = realloc(parts->files, room * sizeof(*parts->files));
    if (files != NULL)
        parts->files = files;
    void *const unpacked = realloc(parts->unpacked, room * sizeof(*parts->unpacked));
    if (unpacked != NULL)
        parts->unpacked = unpacked;
    void *const paths = realloc(parts->paths, room * sizeof(*parts->paths));
    if (paths != NULL)
        parts->paths = paths;
    if (list == NULL || files == NULL || unpacked == NULL || paths == NULL)
        return no_memory();
    parts->list[parts->count] = (struct profile_part){0};
    parts->files[parts->count] = (struct mapped_file){0};
    parts->unpacked[parts->count] = (struct mapped_file){0};
    parts->paths[parts->count] = NULL;
    parts->count++;
    return true;
}

/* data.0, data.1 … , which have no header. */
static bool open_others(struct parts *parts, const char *folder)
{
    for (;;) {
        char *path;
        if (asprintf(&path, "%s/data.%" PRIu32, folder, parts->count - 1) < 0)
            return no_memory();
        if (access(path, F_OK) != 0) {
            free(path);
            return true;
        }
        if (!make_room(parts)) {
            free(path);
            return false;
        }
        const uint32_t last = parts->count - 1;
        parts->paths[last] = path;
        if (!open_file(&parts->files[last], path))
            return false;
        parts->list[last].events =
            jd_events_alone((struct span){parts->files[last].data, parts->files[last].size});
    }
}

static void parts_free(struct parts *parts)
{
    for (uint32_t i = 0; i < parts->count; i++) {
        jd_mapped_file_close(&parts->files[i]);
        jd_mapped_file_close(&parts->unpacked[i]);
        free(parts->paths[i]);
    }
    if (parts->count != 0)
        jd_perf_data_free(&parts->list[0].events);
    free(parts->list);
    free(parts->files);
    free(parts->unpacked);
    free(parts->paths);
}

/* What is compressed */

/* From one file to the other. What zstd has to say is said here. */
static bool run_zstd(const char *path, int from, int to)
{
    const pid_t pid = fork();
    int status = 0;
    if (pid == 0) {
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(from, STDIN_FILENO);
        dup2(to, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        execlp("zstd", "zstd", "-dcq", (char *)NULL);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (pid > 0 && status == 0)
        return true;
    if (pid < 0)
        complain("zstd: %s", strerror(errno));
    else if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        complain("%s: is compressed: install zstd, or leave out -z of perf record", path);
    else
        complain("%s: is compressed, and zstd can't unpack it: it is damaged, or no space is left for it",
                 path);
    return false;
}

static bool unpack_into(struct parts *parts, uint32_t i, FILE *packed, FILE *unpacked)
{
    const char *const path = path_of(parts, i);
    struct problem problem;
    const enum plain_error error = jd_part_write_frame(fileno(packed), &parts->list[i], &problem);
    if (error == PLAIN_NOT_READABLE)
        return unreadable(parts, i, problem);
    if (error == PLAIN_NOT_WRITTEN) {
        complain("%s: a temporary file: %s", path, strerror(errno));
        return false;
    }
    /* Of which the program gets a descriptor, with its place in the file. */
    rewind(packed);
    return run_zstd(path, fileno(packed), fileno(unpacked)) &&
           map_temporary(&parts->unpacked[i], unpacked, path);
}

static bool unpack(struct parts *parts, uint32_t i)
{
    FILE *const packed = make_temporary(path_of(parts, i));
    FILE *const unpacked = packed != NULL ? make_temporary(path_of(parts, i)) : NULL;
    const bool done = unpacked != NULL && unpack_into(parts, i, packed, unpacked);
    if (packed != NULL)
        fclose(packed);
    if (unpacked != NULL)
        fclose(unpacked);
    parts->list[i].unpacked = (struct span){parts->unpacked[i].data, parts->unpacked[i].size};
    return done;
}

static bool unpack_all(struct parts *parts, bool *any)
{
    for (uint32_t i = 0; i < parts->count; i++)
        if (jd_part_is_compressed(&parts->list[i])) {
            *any = true;
            if (!unpack(parts, i))
                return false;
        }
    return true;
}

/* The plain profile */

static bool write_plain(struct parts *parts, struct mapped_file *plain)
{
    struct plain_problem problem = {0};
    FILE *const temporary = make_temporary(parts->path);
    if (temporary == NULL)
        return false;
    const enum plain_error error =
        jd_plain_profile_write(fileno(temporary), parts->list, parts->count, &problem);
    if (error == PLAIN_NOT_WRITTEN)
        complain("%s: a temporary file: %s", parts->path, strerror(errno));
    else if (error == PLAIN_NOT_READABLE)
        unreadable(parts, problem.part, problem.problem);
    const bool written = error == PLAIN_OK && map_temporary(plain, temporary, parts->path);
    fclose(temporary);
    return written;
}

/* False: it can't be done. `plain` stays empty where nothing needs to be done. */
static bool make(struct parts *parts, const struct mapped_file *file, const char *folder,
                 struct mapped_file *plain)
{
    bool compressed = false;
    if (!make_room(parts))
        return false;
    struct perf_data *const first = &parts->list[0].events;
    const enum perf_data_error error = jd_perf_data_init(first, (struct span){file->data, file->size});
    if (error == PERF_DATA_NO_MEMORY)
        return no_memory();
    if (error != PERF_DATA_OK)
        return unreadable(parts, 0, (struct problem){first->offset, first->reason});
    if ((folder != NULL && !open_others(parts, folder)) || !unpack_all(parts, &compressed))
        return false;
    return (!compressed && folder == NULL) || write_plain(parts, plain);
}

bool make_plain(struct mapped_file *file, const char *path, const char *folder)
{
    struct parts parts = {.path = path};
    struct mapped_file plain = {0};
    const bool made = make(&parts, file, folder, &plain);
    parts_free(&parts);
    if (made && plain.size != 0) {
        jd_mapped_file_close(file);
        *file = plain;
    }
    return made;
}
