#define _GNU_SOURCE
#include "process_state.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "number device inode", sorted by number as /proc has them. */
static void list_descriptors(char *list, size_t size)
{
    list[0] = '\0';
    DIR *const directory = opendir("/proc/self/fd");
    if (directory == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const int fd = atoi(entry->d_name);
        struct stat status;
        if (entry->d_name[0] == '.' || fd == dirfd(directory) || fstat(fd, &status) != 0)
            continue;
        const size_t used = strlen(list);
        snprintf(list + used, size - used, "%d %llx %llu\n", fd,
                 (unsigned long long)status.st_dev, (unsigned long long)status.st_ino);
    }
    closedir(directory);
}

static int count_threads(void)
{
    char line[128];
    int threads = 0;
    FILE *const file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        sscanf(line, "Threads: %d", &threads);
    if (file != NULL)
        fclose(file);
    return threads;
}

void process_state_take(struct process_state *state)
{
    memset(state, 0, sizeof(*state));
    list_descriptors(state->descriptors, sizeof(state->descriptors));
    if (getcwd(state->directory, sizeof(state->directory)) == NULL)
        state->directory[0] = '\0';
    pthread_sigmask(SIG_SETMASK, NULL, &state->mask);
    sigpending(&state->pending);
    for (int number = 1; number < NSIG; number++)
        sigaction(number, NULL, &state->actions[number]);
    for (int resource = 0; resource < (int)RLIMIT_NLIMITS; resource++)
        getrlimit((__rlimit_resource_t)resource, &state->limits[resource]);
    state->umask = umask(0);
    umask(state->umask);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state->cancel_state);
    pthread_setcancelstate(state->cancel_state, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &state->cancel_type);
    pthread_setcanceltype(state->cancel_type, NULL);
    state->threads = count_threads();
}

/* SA_RESTORER: the C library leaves it behind where an action was set and set back. */
enum { RESTORER = 0x04000000 };

static const char *changed_signals(const struct process_state *a, const struct process_state *b)
{
    for (int number = 1; number < NSIG; number++) {
        if (sigismember(&a->mask, number) != sigismember(&b->mask, number))
            return "signal mask";
        if (sigismember(&a->pending, number) != sigismember(&b->pending, number))
            return "pending signals";
        if (a->actions[number].sa_handler != b->actions[number].sa_handler ||
            (a->actions[number].sa_flags & ~RESTORER) !=
                (b->actions[number].sa_flags & ~RESTORER))
            return "signal actions";
    }
    return NULL;
}

const char *process_state_changed(const struct process_state *before)
{
    struct process_state now;
    process_state_take(&now);
    /* A thread that was joined may be seen for a moment still. */
    for (int i = 0; i < 10000 && now.threads > before->threads; i++) {
        sched_yield();
        now.threads = count_threads();
    }
    if (strcmp(now.descriptors, before->descriptors) != 0)
        return "descriptors";
    if (strcmp(now.directory, before->directory) != 0)
        return "current directory";
    const char *const signals = changed_signals(&now, before);
    if (signals != NULL)
        return signals;
    if (memcmp(now.limits, before->limits, sizeof(now.limits)) != 0)
        return "resource limits";
    if (now.umask != before->umask)
        return "umask";
    if (now.cancel_state != before->cancel_state || now.cancel_type != before->cancel_type)
        return "cancellation state or type";
    if (now.threads != before->threads)
        return "threads";
    return NULL;
}
