#define _GNU_SOURCE
#include "platform/c_library.h"

#include "tool/inject_input.h"

#include "tool/inject_parts.h"
#include "tool/input.h"
#include "tool/messages.h"
#include "tool/temporary.h"

#include "inject/pipe_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_standard_input(struct mapped_file *file)
{
    char buffer[1 << 16];
    FILE *const temporary = make_temporary("standard input");
    if (temporary == NULL)
        return false;
    size_t size;
    while ((size = fread(buffer, 1, sizeof(buffer), stdin)) > 0 &&
           fwrite(buffer, 1, size, temporary) == size)
        continue;
    const bool read = ferror(stdin) == 0 && ferror(temporary) == 0 && fflush(temporary) == 0;
    if (!read)
        complain("standard input: %s", strerror(errno));
    const bool mapped = read && map_temporary(file, temporary, "standard input");
    fclose(temporary);
    return mapped;
}

/* In place of what went through a pipe. */
static bool convert(struct mapped_file *file, const char *path)
{
    struct problem problem = {0};
    struct mapped_file converted = {0};
    FILE *const temporary = make_temporary(path);
    if (temporary == NULL)
        return false;
    const enum pipe_error error = jd_pipe_profile_write(
        fileno(temporary), (struct span){file->data, file->size}, &problem);
    if (error == PIPE_NOT_READABLE)
        complain("%s: at offset 0x%" PRIx64 ": %s", path, problem.offset, problem.reason);
    else if (error == PIPE_NOT_WRITTEN)
        complain("%s: %s", path, strerror(errno));
    const bool made = error == PIPE_OK && map_temporary(&converted, temporary, path);
    fclose(temporary);
    if (made) {
        jd_mapped_file_close(file);
        *file = converted;
    }
    return made;
}

/* As one plain file. */
static bool make_whole(struct mapped_file *file, const char *path, const char *folder)
{
    if (jd_is_pipe_profile((struct span){file->data, file->size}) && !convert(file, path))
        return false;
    return make_plain(file, path, folder);
}

static bool open_whole(struct mapped_file *file, const char *path, const char *folder)
{
    if (!open_file(file, path))
        return false;
    if (make_whole(file, path, folder))
        return true;
    jd_mapped_file_close(file);
    return false;
}

/* perf record --threads, or --kcore. */
static bool open_directory(struct mapped_file *file, const char *folder)
{
    char *path;
    if (asprintf(&path, "%s/data", folder) < 0) {
        complain("out of memory");
        return false;
    }
    const bool opened = open_whole(file, path, folder);
    free(path);
    return opened;
}

bool open_profile(struct mapped_file *file, const char *path)
{
    struct stat status;
    if (strcmp(path, "-") != 0)
        return stat(path, &status) == 0 && S_ISDIR(status.st_mode) ? open_directory(file, path)
                                                                   : open_whole(file, path, NULL);
    if (!read_standard_input(file))
        return false;
    if (make_whole(file, "standard input", NULL))
        return true;
    jd_mapped_file_close(file);
    return false;
}
