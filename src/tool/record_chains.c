#define _GNU_SOURCE
#include "tool/record_chains.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static FILE *start_perf(const char *profile, pid_t *pid)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    *pid = fork();
    if (*pid == 0) {
        const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(nowhere, STDIN_FILENO);
        dup2(nowhere, STDERR_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        execlp("perf", "perf", "script", "--no-inline", "-F", "ip,sym,dso", "-i", profile,
               (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *const output = *pid > 0 ? fdopen(ends[0], "r") : NULL;
    if (output == NULL)
        close(ends[0]);
    return output;
}

/* A frame: "  7f1234 name (/path/of/file)". */
enum frame { FRAME_GENERATED, FRAME_IN_FILE, FRAME_UNKNOWN };

static enum frame frame_of(char *line, const char *directory)
{
    char *const end = strrchr(line, ')');
    if (end == NULL)
        return FRAME_UNKNOWN;
    *end = '\0';
    /* Parentheses may be in the name and in the path. */
    char generated[4200];
    snprintf(generated, sizeof(generated), " (%s/", directory);
    if (strstr(line, generated) != NULL)
        return FRAME_GENERATED;
    return strstr(line, " (/") != NULL && strstr(line, " (//anon") == NULL &&
                   strstr(line, " (/memfd:") == NULL
               ? FRAME_IN_FILE
               : FRAME_UNKNOWN;
}

static void read_chains(struct record_chains *chains, FILE *output, const char *directory)
{
    char *line = NULL;
    size_t room = 0;
    bool first = true, generated = false, below = false, known = true;
    enum frame last = FRAME_UNKNOWN;
    while (chains->all + chains->below < RECORD_CHAINS_MAX && getline(&line, &room, output) >= 0) {
        if (line[0] == '\n') {
            chains->all += generated;
            chains->whole += generated && known && last == FRAME_IN_FILE;
            chains->below += below && !generated;
            first = true;
            generated = false;
            below = false;
            known = true;
            continue;
        }
        last = frame_of(line, directory);
        generated |= first && last == FRAME_GENERATED;
        below |= last == FRAME_GENERATED;
        known = known && last != FRAME_UNKNOWN;
        first = false;
    }
    free(line);
}

bool record_chains_count(struct record_chains *chains, const char *profile, const char *directory)
{
    pid_t pid;
    FILE *const output = start_perf(profile, &pid);
    *chains = (struct record_chains){0};
    if (output == NULL)
        return false;
    read_chains(chains, output, directory);
    fclose(output);
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
    return chains->all + chains->below != 0;
}
