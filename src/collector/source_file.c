#include "platform/c_library.h"

#include "source_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char *jd_source_file_absolute(const char *name)
{
    char *path = NULL;
    const int saved_errno = errno;
    if (name == NULL || name[0] == '\0' || name[0] == '/')
        return NULL;
    if (access(name, F_OK) == 0) {
        char *const directory = getcwd(NULL, 0); /* allocated, by the GNU C library and others */
        if (directory != NULL && asprintf(&path, "%s/%s", directory, name) < 0)
            path = NULL;
        free(directory);
    }
    errno = saved_errno;
    return path;
}
