#define _GNU_SOURCE
#include "conditions.h"

#include "../../sanitizer.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    long number;
} system_calls[] = {
    {"close", SYS_close},
    {"clone", SYS_clone},
    {"clone3", SYS_clone3},
    {"fchmod", SYS_fchmod},
    {"flock", SYS_flock},
    {"fstatat", SYS_newfstatat},
    {"ftruncate", SYS_ftruncate},
    {"gettid", SYS_gettid},
    {"lseek", SYS_lseek},
    {"mmap", SYS_mmap},
    {"munmap", SYS_munmap},
    {"openat", SYS_openat},
    {"prctl", SYS_prctl},
    {"pread64", SYS_pread64},
    {"rt_sigpending", SYS_rt_sigpending},
    {"rt_sigprocmask", SYS_rt_sigprocmask},
    {"rt_sigtimedwait", SYS_rt_sigtimedwait},
#ifdef SYS_readlink
    {"readlink", SYS_readlink},
#else
    {"readlink", SYS_readlinkat},
#endif
#ifdef SYS_unlink
    {"unlink", SYS_unlink},
#else
    {"unlink", SYS_unlinkat},
#endif
    {"writev", SYS_writev},
};

bool condition_parse(const char *text, struct condition *condition)
{
    memset(condition, 0, sizeof(*condition));
    const char *const at = strchr(text, '@');
    const char *const value = at != NULL ? strchr(at, ':') : NULL;
    if (value == NULL)
        return false;
    snprintf(condition->what, sizeof(condition->what), "%.*s", (int)(at - text), text);
    snprintf(condition->step, sizeof(condition->step), "%.*s", (int)(value - at - 1), at + 1);
    /* Steps' names have spaces. */
    for (char *c = condition->step; *c != '\0'; c++)
        if (*c == '_')
            *c = ' ';
    return sscanf(value, ":%ld:%23s", &condition->value, condition->call) >= 1;
}

bool condition_possible(const struct condition *condition)
{
    /* The first maps terabytes, and what its runtime calls is its own affair. */
    return !SANITIZED ||
           (strcmp(condition->what, "as") != 0 && strcmp(condition->what, "seccomp") != 0);
}

/* Limits, of which the soft one can be set back. */
enum { LIMITS = 3 };
static const __rlimit_resource_t resources[LIMITS] = {RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_AS};
static struct rlimit limits_before[LIMITS];
static bool limited[LIMITS];

static void limit(int which, rlim_t value)
{
    if (!limited[which])
        getrlimit(resources[which], &limits_before[which]);
    limited[which] = true;
    const struct rlimit lower = {value, limits_before[which].rlim_max};
    if (setrlimit(resources[which], &lower) != 0)
        abort();
}

void conditions_end(void)
{
    for (int i = 0; i < LIMITS; i++)
        if (limited[i])
            setrlimit(resources[i], &limits_before[i]);
}

static rlim_t address_space(void)
{
    unsigned long pages = 0;
    FILE *const file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%lu", &pages) != 1)
        abort();
    fclose(file);
    return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Holds for the calling thread, and for those that it starts. */
static void filter(const char *call, long error_number)
{
    long number = -1;
    for (size_t i = 0; i < sizeof(system_calls) / sizeof(system_calls[0]); i++)
        if (strcmp(system_calls[i].name, call) == 0)
            number = system_calls[i].number;
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error_number),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(steps) / sizeof(steps[0]), steps};
    if (number < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        abort();
}

static void remove_directory_of(const char *path)
{
    char directory[4200], name[8400];
    snprintf(directory, sizeof(directory), "%s", path);
    *strrchr(directory, '/') = '\0';
    DIR *const entries = opendir(directory);
    for (const struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        snprintf(name, sizeof(name), "%s/%s", directory, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(name);
    }
    if (entries == NULL || closedir(entries) != 0 || rmdir(directory) != 0)
        abort();
}

void condition_after(struct condition *condition, const char *step, const char *path)
{
    const char *const what = condition->what;
    if (condition->holds || strcmp(step, condition->step) != 0)
        return;
    condition->holds = true;
    if (strcmp(what, "fsize") == 0)
        limit(0, (rlim_t)condition->value);
    else if (strcmp(what, "nofile") == 0)
        limit(1, (rlim_t)condition->value);
    else if (strcmp(what, "as") == 0)
        limit(2, address_space() + (rlim_t)condition->value);
    else if (strcmp(what, "seccomp") == 0)
        filter(condition->call, condition->value);
    else if (strcmp(what, "truncate") == 0 && truncate(path, condition->value) != 0)
        abort();
    else if (strcmp(what, "unlink") == 0 && unlink(path) != 0)
        abort();
    else if (strcmp(what, "rmdir") == 0)
        remove_directory_of(path);
}
