/*
 * perf starts the command through this program once more (record_become_command), for two reasons. What
 * is set for the command, a preloaded library above all, is not meant for perf. And a Ctrl-C is
 * the command's alone: perf would end it at once, while it is still ending by itself. So perf has
 * the signal blocked, and the command gets it back.
 */
#define _GNU_SOURCE
#include "tool/record_perf.h"

#include "tool/command.h"
#include "tool/messages.h"
#include "tool/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Often enough to see what takes a hundredth of a second of CPU, and no whole multiple of anything else's rhythm. */
#define SAMPLES_PER_SECOND 999

static volatile sig_atomic_t perf_pid;

static void forward(int signal_number)
{
    if (perf_pid != 0)
        kill((pid_t)perf_pid, signal_number);
}

static void set_handler(int signal_number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(signal_number, &action, NULL);
}

static sigset_t keyboard_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGQUIT);
    return set;
}

/* A number from /proc; `otherwise` if there is none. */
static long kernel_setting(const char *path, long otherwise)
{
    long value = otherwise;
    FILE *const file = fopen(path, "re");
    if (file != NULL) {
        if (fscanf(file, "%ld", &value) != 1)
            value = otherwise;
        fclose(file);
    }
    return value;
}

/* perf's command line */

struct arguments {
    char **words;
    int count;
    char frequency[24], descriptor[16], collector[16];
    char self[4096];
};

static void add(struct arguments *arguments, const char *word)
{
    arguments->words[arguments->count++] = (char *)(uintptr_t)word;
}

static void add_defaults(struct arguments *arguments, const struct recording *recording)
{
    static const char *const defaults[] = {
        "perf", "record",
        "-k", "mono",          /* the dumps' clock */
        "--call-graph", "fp",
        "--no-buildid-cache",  /* no copies of all files that perf meets */
        "--no-bpf-event",      /* whose thread in perf takes a second to end */
    };
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
        add(arguments, defaults[i]);
    if (recording->has_period)
        return;
    /* perf refuses what is more than the kernel allows at the moment. */
    const long most = kernel_setting("/proc/sys/kernel/perf_event_max_sample_rate", SAMPLES_PER_SECOND);
    snprintf(arguments->frequency, sizeof(arguments->frequency), "%ld",
             most < SAMPLES_PER_SECOND ? most : SAMPLES_PER_SECOND);
    add(arguments, "-F");
    add(arguments, arguments->frequency);
}

static bool add_command(struct arguments *arguments, const struct recording *recording, int report)
{
    const ssize_t size = readlink("/proc/self/exe", arguments->self, sizeof(arguments->self) - 1);
    if (size < 0) {
        complain("/proc/self/exe: %s", strerror(errno));
        return false;
    }
    arguments->self[size] = '\0';
    snprintf(arguments->descriptor, sizeof(arguments->descriptor), "%d", report);
    snprintf(arguments->collector, sizeof(arguments->collector), "%d", (int)recording->collector);
    add(arguments, "--");
    add(arguments, arguments->self);
    add(arguments, "record");
    add(arguments, RECORD_BECOME_COMMAND);
    add(arguments, arguments->descriptor);
    add(arguments, recording->directory);
    add(arguments, arguments->collector);
    for (char *const *word = recording->command; *word != NULL; word++)
        add(arguments, *word);
    return true;
}

/* The defaults first, so that the user's options outdo them. No -e among them: perf takes the processor's
 * cycles, where there is no counter for them the clock, and user mode alone where that is all that
 * is permitted. */
static bool make_arguments(struct arguments *arguments, const struct recording *recording, int report)
{
    enum { OWN_MAX = 24 };
    int count = recording->option_count;
    for (char *const *word = recording->command; word != NULL && *word != NULL; word++)
        count++;
    *arguments = (struct arguments){.words = calloc((size_t)count + OWN_MAX, sizeof(char *))};
    if (arguments->words == NULL) {
        complain("out of memory");
        return false;
    }
    add_defaults(arguments, recording);
    for (int i = 0; i < recording->option_count; i++)
        add(arguments, recording->options[i]);
    add(arguments, "-o");
    add(arguments, recording->profile);
    return recording->command == NULL || add_command(arguments, recording, report);
}

/* perf's process */

/* What the command's process says through the pipe: that it is there, and then, unless it becomes
 * the command, why not. */
#define HERE 1

static void complain_of_perf(int error)
{
    if (error == ENOENT)
        complain("perf is not installed. Its package is linux-perf (Debian), linux-tools-generic "
                 "(Ubuntu) or perf (Fedora, Arch and others)");
    else
        complain("perf: %s", strerror(error));
}

/* Becomes perf, or sends the reason through the pipe. `before`: the signals that the user had blocked. */
static void become_perf(const struct recording *recording, const struct arguments *arguments,
                        int failure, const sigset_t *before)
{
    const sigset_t keyboard = keyboard_signals();
    set_handler(SIGINT, SIG_DFL);
    set_handler(SIGQUIT, SIG_DFL);
    set_handler(SIGTERM, SIG_DFL);
    unfinished_release(before);
    if (recording->command != NULL)
        sigprocmask(SIG_BLOCK, &keyboard, NULL);
    execvp("perf", arguments->words);
    const int error = errno;
    const ssize_t written = write(failure, &error, sizeof(error));
    (void)written;
    _exit(127);
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* What was sent: 0, 1 or sizeof(int) bytes behind that. */
static enum recording_end hear(int report, const struct recording *recording)
{
    char here = 0;
    int error = 0;
    if (read(report, &here, 1) != 1 || here != HERE)
        return RECORDING_REFUSED;
    if (read(report, &error, sizeof(error)) != (ssize_t)sizeof(error))
        return RECORDING_ENDED;
    complain("%s: %s", recording->command[0], strerror(error));
    return RECORDING_NO_COMMAND;
}

/* Signals wait from the time that there is something to be done about them until perf gets them. */
static pid_t start(const struct recording *recording, const struct arguments *arguments, int failure)
{
    sigset_t before;
    unfinished_hold(&before);
    unfinished_forget(recording->directory);
    set_handler(SIGINT, SIG_IGN);
    set_handler(SIGQUIT, SIG_IGN);
    set_handler(SIGTERM, forward);
    const pid_t pid = fork();
    if (pid == 0)
        become_perf(recording, arguments, failure, &before);
    if (pid > 0)
        perf_pid = pid;
    unfinished_release(&before);
    return pid;
}

static enum recording_end run(const struct recording *recording, const struct arguments *arguments,
                              int *status)
{
    int failure[2], error = 0;
    if (pipe2(failure, O_CLOEXEC) != 0) {
        complain("a pipe: %s", strerror(errno));
        return RECORDING_NO_PERF;
    }
    const pid_t pid = start(recording, arguments, failure[1]);
    close(failure[1]);
    if (pid < 0) {
        complain("perf: %s", strerror(errno));
        close(failure[0]);
        return RECORDING_NO_PERF;
    }
    const bool started = read(failure[0], &error, sizeof(error)) <= 0;
    close(failure[0]);
    *status = wait_for(pid);
    perf_pid = 0;
    if (!started)
        complain_of_perf(error);
    return started ? RECORDING_ENDED : RECORDING_NO_PERF;
}

enum recording_end record_by_perf(const struct recording *recording, int *status)
{
    struct arguments arguments = {0};
    int report[2];
    /* The command's process inherits the writing end through perf. */
    if (pipe(report) != 0) {
        complain("a pipe: %s", strerror(errno));
        return RECORDING_NO_PERF;
    }
    fcntl(report[0], F_SETFD, FD_CLOEXEC);
    enum recording_end end = RECORDING_NO_PERF;
    if (make_arguments(&arguments, recording, report[1]))
        end = run(recording, &arguments, status);
    set_handler(SIGINT, SIG_DFL);
    set_handler(SIGQUIT, SIG_DFL);
    set_handler(SIGTERM, SIG_DFL);
    close(report[1]);
    if (end == RECORDING_ENDED && recording->command != NULL)
        end = hear(report[0], recording);
    else if (end == RECORDING_ENDED && access(recording->profile, F_OK) != 0)
        end = RECORDING_REFUSED; /* of -p, that there is no such process */
    close(report[0]);
    free(arguments.words);
    return end;
}

int record_become_command(char **argv)
{
    const int report = atoi(argv[0]);
    const char here = HERE;
    const sigset_t keyboard = keyboard_signals();
    record_set_environment(argv[1], (enum collector_use)atoi(argv[2]));
    fcntl(report, F_SETFD, FD_CLOEXEC);
    ssize_t written = write(report, &here, 1);
    sigprocmask(SIG_UNBLOCK, &keyboard, NULL);
    execvp(argv[3], &argv[3]);
    const int error = errno;
    written = write(report, &error, sizeof(error));
    (void)written;
    return error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
}

void record_explain_refusal(void)
{
    const long paranoid = kernel_setting("/proc/sys/kernel/perf_event_paranoid", -1);
    if (access("/proc/sys/kernel/perf_event_paranoid", F_OK) != 0) {
        complain("this kernel has no performance events (or /proc is not mounted)");
        return;
    }
    if (geteuid() == 0)
        complain("if perf was not permitted: a container needs --cap-add PERFMON, and where its "
                 "seccomp profile forbids perf_event_open also --security-opt seccomp=unconfined");
    else if (paranoid > 2)
        complain("kernel.perf_event_paranoid is %ld, and must be 2 or less for users: "
                 "sudo sysctl kernel.perf_event_paranoid=2",
                 paranoid);
    else
        complain("kernel.perf_event_paranoid is %ld: one's own processes may be profiled; those of "
                 "others, and a whole machine (-a), need root%s",
                 paranoid, paranoid > 0 ? " or 0" : "");
}
