#include "platform/c_library.h"

#include "tool/unfinished.h"

#include "reader/grow.h"

#include <string.h>
#include <unistd.h>

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNAL_COUNT = sizeof(ending_signals) / sizeof(ending_signals[0]) };

/* Changed only while the signals are held. */
static char **paths;
static uint64_t path_count, path_capacity;

static sigset_t ending_set(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (unsigned i = 0; i < SIGNAL_COUNT; i++)
        sigaddset(&set, ending_signals[i]);
    return set;
}

void unfinished_remove(void)
{
    for (uint64_t i = path_count; i-- > 0;)
        if (unlink(paths[i]) != 0)
            rmdir(paths[i]);
}

/* Ends the program as the signal would have; it is delivered once more when this returns. */
static void clean_up(int signal_number)
{
    unfinished_remove();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* But where the signal is ignored, or something else is done about it. */
static void install(void)
{
    struct sigaction action = {.sa_handler = clean_up, .sa_mask = ending_set()}, old;
    for (unsigned i = 0; i < SIGNAL_COUNT; i++)
        if (sigaction(ending_signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(ending_signals[i], &action, NULL);
}

static bool add(const char *path)
{
    char **const grown = grow(paths, &path_capacity, path_count + 1, sizeof(*paths));
    if (grown == NULL)
        return false;
    paths = grown;
    paths[path_count] = strdup(path);
    if (paths[path_count] == NULL)
        return false;
    path_count++;
    return true;
}

bool unfinished_add(const char *path)
{
    sigset_t before;
    unfinished_hold(&before);
    const bool added = add(path);
    install();
    unfinished_release(&before);
    return added;
}

void unfinished_forget(const char *path)
{
    const size_t size = strlen(path);
    sigset_t before;
    unfinished_hold(&before);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < path_count; i++) {
        if (strncmp(paths[i], path, size) == 0 && (paths[i][size] == '\0' || paths[i][size] == '/'))
            free(paths[i]);
        else
            paths[kept++] = paths[i];
    }
    path_count = kept;
    if (kept == 0) {
        free(paths);
        paths = NULL;
        path_capacity = 0;
    }
    unfinished_release(&before);
}

void unfinished_hold(sigset_t *before)
{
    const sigset_t set = ending_set();
    sigprocmask(SIG_BLOCK, &set, before);
}

void unfinished_release(const sigset_t *before)
{
    sigprocmask(SIG_SETMASK, before, NULL);
}
