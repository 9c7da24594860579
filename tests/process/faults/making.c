#define _GNU_SOURCE
#include "making.h"

#include "jitdump.h"
#include "paths.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_there(const struct making *making, int file)
{
    return access(file == 0 ? dump_path(making->directory) : map_path(), F_OK) == 0;
}

void making_begins(struct making *making, const char *directory)
{
    making->directory = directory;
    for (int i = 0; i < 2; i++)
        making->there[i] = is_there(making, i);
    process_state_take(&making->state);
    making->held = faults_held();
}

void making_failed(const struct making *making, size_t unmapped)
{
    static const char *const files[] = {"dump", "map"};
    for (int i = 0; i < 2; i++)
        if (!making->there[i] && is_there(making, i))
            left_behind(files[i]);
    const struct held held = faults_held();
    if (held.descriptors != making->held.descriptors)
        left_behind("descriptor");
    if (held.allocations != making->held.allocations)
        left_behind("memory");
    if (held.mapped != making->held.mapped - unmapped)
        left_behind("mapping");
    const char *const changed = process_state_changed(&making->state);
    if (changed != NULL)
        left_behind(changed);
}

void making_check_message(int error, const char *message, const char *place)
{
    char part[64];
    if (error == JITDUMP_ERROR_PERF_MAP) {
        snprintf(part, sizeof(part), "%s: ", map_path());
        if (strstr(message, part) != message)
            problem("no path of the map in '%.80s'", message);
    } else if (error <= JITDUMP_ERROR_DIRECTORY_MISSING && error >= JITDUMP_ERROR_IO &&
               error != JITDUMP_ERROR_TOO_MANY_FILES) {
        /* Not at the beginning: what leads to it may be a link. */
        if (strstr(message, place) == NULL)
            problem("no path in '%.80s'", message);
    }
    const int error_number = faults_error_number();
    snprintf(part, sizeof(part), "(errno %d)", error_number);
    if (error == JITDUMP_ERROR_IO && error_number != 0 && strstr(message, part) == NULL)
        problem("no %s in '%.80s'", part, message);
}
