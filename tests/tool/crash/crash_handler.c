/*
 * A crash handler, preloaded into any program: on a fatal signal it leaves the thread's registers for
 * another program, which writes the minidump, and waits for that.
 *
 *     LD_PRELOAD=… CRASH_WRITER=write-minidump CRASH_FILE=crash.dmp PROGRAM
 *
 * Beside CRASH_FILE is CRASH_FILE.context: a struct CrashContext of the crate crash-context, on x86-64.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/ucontext.h>
#include <sys/wait.h>
#include <unistd.h>

struct crash_context {
    ucontext_t context;
    struct _libc_fpstate float_state;
    struct signalfd_siginfo siginfo;
    pid_t pid;
    pid_t tid;
};

static char context_path[4096];

static void write_context(const siginfo_t *info, const ucontext_t *context)
{
    static struct crash_context crash;
    crash.context = *context;
    if (context->uc_mcontext.fpregs != NULL)
        crash.float_state = *context->uc_mcontext.fpregs;
    crash.siginfo.ssi_signo = (uint32_t)info->si_signo;
    crash.siginfo.ssi_code = info->si_code;
    crash.siginfo.ssi_addr = (uint64_t)(uintptr_t)info->si_addr;
    crash.pid = getpid();
    crash.tid = gettid();
    const int fd = open(context_path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
    if (write(fd, &crash, sizeof(crash)) != (ssize_t)sizeof(crash))
        _exit(3);
    close(fd);
}

static void handle(int signal_number, siginfo_t *info, void *context)
{
    char pid[16], tid[16];
    (void)signal_number;
    write_context(info, context);
    snprintf(pid, sizeof(pid), "%d", getpid());
    snprintf(tid, sizeof(tid), "%d", gettid());
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    const pid_t child = fork();
    if (child == 0) {
        const char *const writer = getenv("CRASH_WRITER");
        execl(writer, writer, pid, tid, getenv("CRASH_FILE"), context_path, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 42 : 3);
}

__attribute__((constructor)) static void install(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT};
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    const char *const path = getenv("CRASH_FILE");
    if (path == NULL)
        return;
    unsetenv("LD_PRELOAD"); /* not into what writes the minidump */
    snprintf(context_path, sizeof(context_path), "%s.context", path);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &action, NULL);
}
