/* Uses the library in phases, for test_system_calls.py: phases SCENARIO DIRECTORY [CALL]...
 *
 * Before each phase it makes a system call that only a tracer sees, with the phase's name. With
 * names of system calls, a filter kills the process at any other one, from the open on. */
#define _GNU_SOURCE
#include "jitdump.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void require(int condition)
{
    if (!condition)
        _exit(1);
}

static void begin(const char *phase)
{
    (void)!write(-1, phase, strlen(phase));
}

/* Everything that appends, in as many system calls as it ever takes. */
static void append(struct jitdump *dump)
{
    static unsigned char large[100000];
    struct jitdump_code code = {.struct_size = sizeof(code),
                                .name = "f",
                                .code_addr = 0x1000,
                                .code_size = 16,
                                .code_bytes = large};
    uint64_t index;
    begin("append");
    for (int i = 0; i < 3; i++)
        require(jitdump_load(dump, &code, &index) == 0);
    require(jitdump_move(dump, index, 0x1000, 0x2000, 16) == 0);
    require(jitdump_append_raw(dump, 1000, "x", 1) == 0);
    begin("large");
    code.code_size = sizeof(large);
    require(jitdump_load(dump, &code, NULL) == 0);
    begin("flush");
    code.code_size = 16;
    require(jitdump_load(dump, &code, NULL) == 0);
    require(jitdump_flush(dump) == 0);
    require(jitdump_load(dump, &code, NULL) == 0);
    require(jitdump_flush_from_signal(dump) >= JITDUMP_ERROR_BUSY);
}

#define CALL(name) {#name, SYS_##name}
static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    CALL(brk),          CALL(clone),           CALL(clone3),         CALL(close),
    CALL(exit),         CALL(exit_group),      CALL(fchmod),         CALL(fcntl),
    CALL(flock),        CALL(fstat),           CALL(ftruncate),      CALL(futex),
    CALL(geteuid),      CALL(getpid),          CALL(getrandom),      CALL(gettid),
    CALL(lseek),        CALL(madvise),         CALL(mmap),           CALL(mprotect),
    CALL(munmap),       CALL(newfstatat),      CALL(openat),         CALL(perf_event_open),
    CALL(prctl),        CALL(pread64),         CALL(readlink),       CALL(rename),
    CALL(rseq),         CALL(rt_sigaction),    CALL(rt_sigpending),  CALL(rt_sigprocmask),
    CALL(rt_sigtimedwait), CALL(sched_yield),  CALL(set_robust_list), CALL(unlink),
    CALL(wait4),        CALL(write),           CALL(writev),
};

static unsigned number_of(const char *name)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strcmp(calls[i].name, name) == 0)
            return calls[i].number;
    fprintf(stderr, "%s: no system call that phases.c knows\n", name);
    _exit(1);
}

static void filter(char **names, int count)
{
    struct sock_filter *steps = calloc((size_t)count + 3, sizeof(*steps));
    steps[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                            offsetof(struct seccomp_data, nr));
    for (int i = 0; i < count; i++)
        steps[i + 1] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, number_of(names[i]), (unsigned char)(count - i), 0);
    steps[count + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    steps[count + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {(unsigned short)(count + 3), steps};
    require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static struct jitdump_options options_of(const char *scenario, const char *directory)
{
    struct jitdump_options options = {.struct_size = sizeof(options), .directory = directory};
    char path[4200];
    snprintf(path, sizeof(path), "%s/jit-%d.dump", directory, (int)getpid());
    const int created = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
    if (strncmp(scenario, "descriptor", 10) == 0) {
        options.descriptor = (uint64_t)open(path, created, 0600);
        options.flags = JITDUMP_NO_ATFORK | JITDUMP_NO_EXIT_FLUSH | JITDUMP_NO_SIGNAL_MASK;
    }
    if (strcmp(scenario, "stale") == 0) {
        const struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
        const int file = open(path, created, 0600);
        require(file >= 0 && futimens(file, old) == 0 && close(file) == 0);
    }
    if (strstr(scenario, "buffered") != NULL)
        options.flush_mode = JITDUMP_FLUSH_BUFFERED;
    if (strstr(scenario, "background") != NULL)
        options.flush_mode = JITDUMP_FLUSH_BACKGROUND;
    if (strstr(scenario, "empty") != NULL)
        options.flags |= JITDUMP_EMPTY_AT_CLOSE;
    if (strcmp(scenario, "unlink") == 0)
        options.flags |= JITDUMP_UNLINK_AT_CLOSE;
    if (strcmp(scenario, "tsc") == 0)
        options.clock = JITDUMP_CLOCK_TSC;
    return options;
}

static void load_in_child(struct jitdump *dump)
{
    const struct jitdump_code code = {.struct_size = sizeof(code), .name = "f",
                                      .code_addr = 0x1000};
    const pid_t child = fork();
    if (child == 0) {
        begin("child");
        require(jitdump_load(dump, &code, NULL) == 0);
        begin("end");
        _exit(0);
    }
    int status;
    require(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv)
{
    require(argc >= 3);
    const struct jitdump_options options = options_of(argv[1], argv[2]);
    if (argc > 3)
        filter(argv + 3, argc - 3);
    struct jitdump *dump;
    begin("open");
    const int error = jitdump_open(&dump, &options);
    if (strcmp(argv[1], "tsc") == 0 && error != 0)
        return 0; /* a virtual machine has no such clock */
    require(error == 0);
    append(dump);
    begin("fork");
    if (strcmp(argv[1], "fork") == 0)
        load_in_child(dump);
    begin("close");
    require(jitdump_close(dump) == 0);
    begin("end");
    _exit(0);
}
