#include "platform/c_library.h"

#include "tool/temporary.h"

#include "tool/messages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

FILE *make_temporary(const char *path)
{
    FILE *const temporary = tmpfile();
    if (temporary == NULL)
        complain("%s: no temporary file: %s", path, strerror(errno));
    return temporary;
}

bool map_temporary(struct mapped_file *file, FILE *temporary, const char *path)
{
    char name[64];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fileno(temporary));
    const int error = jd_mapped_file_open(file, name);
    if (error != 0)
        complain("%s: %s", path, strerror(error));
    return error == 0;
}
