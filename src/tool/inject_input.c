#define _GNU_SOURCE
#include "platform/c_library.h"

#include "tool/inject_input.h"

#include "tool/input.h"
#include "tool/messages.h"

#include "inject/pipe_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A file without a name, mapped; it lasts as long as the mapping. */
static bool map_temporary(struct mapped_file *file, FILE *temporary, const char *path)
{
    char name[64];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fileno(temporary));
    const int error = jd_mapped_file_open(file, name);
    fclose(temporary);
    if (error != 0)
        complain("%s: %s", path, strerror(error));
    return error == 0;
}

static FILE *make_temporary(const char *path)
{
    FILE *const temporary = tmpfile();
    if (temporary == NULL)
        complain("%s: no temporary file: %s", path, strerror(errno));
    return temporary;
}

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
    if (ferror(stdin) == 0 && ferror(temporary) == 0 && fflush(temporary) == 0)
        return map_temporary(file, temporary, "standard input");
    complain("standard input: %s", strerror(errno));
    fclose(temporary);
    return false;
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
    if (error == PIPE_OK && map_temporary(&converted, temporary, path)) {
        jd_mapped_file_close(file);
        *file = converted;
        return true;
    }
    if (error == PIPE_NOT_READABLE)
        complain("%s: at offset 0x%" PRIx64 ": %s", path, problem.offset, problem.reason);
    else if (error == PIPE_NOT_WRITTEN)
        complain("%s: %s", path, strerror(errno));
    if (error != PIPE_OK)
        fclose(temporary);
    return false;
}

bool open_profile(struct mapped_file *file, const char *path)
{
    const bool is_standard_input = strcmp(path, "-") == 0;
    if (!(is_standard_input ? read_standard_input(file) : open_file(file, path)))
        return false;
    if (!jd_is_pipe_profile((struct span){file->data, file->size}))
        return true;
    if (convert(file, is_standard_input ? "standard input" : path))
        return true;
    jd_mapped_file_close(file);
    return false;
}
