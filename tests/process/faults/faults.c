#define _GNU_SOURCE
#include "faults.h"

#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct report *report;

static struct held library;

enum { DESCRIPTORS_MAX = 1024 };
static const char *kinds[DESCRIPTORS_MAX];

/* What a process of the same pid has left there is not of this run. */
static void remove_old_map(void)
{
    unlink(map_path());
}

void faults_start(struct report *to)
{
    remove_old_map();
    report = to;
    report->fired_step = -1;
    report->dumper = getpid();
}

void faults_restart(void)
{
    pthread_mutex_init(&lock, NULL);
    remove_old_map();
    report->call_count = report->write_count = 0;
    report->dumper = getpid();
}

void faults_end(void)
{
    report->plan_count = 0;
}

bool faults_planned(void)
{
    return report->plan_count > 0;
}

int faults_error_number(void)
{
    return report->plan_count > 0 ? report->plans[0].error_number : 0;
}

struct held faults_held(void)
{
    return library;
}

void left_behind(const char *what)
{
    if (report->left_count < LEFT_MAX)
        snprintf(report->left[report->left_count++], sizeof(report->left[0]), "%s", what);
}

void problem(const char *format, ...)
{
    if (report->problem_count == PROBLEMS_MAX)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report->problems[report->problem_count++], sizeof(report->problems[0]), format,
              arguments);
    va_end(arguments);
}

void faults_check_leaks(void)
{
    if (library.descriptors != 0)
        problem("%d descriptors are left open", library.descriptors);
    if (library.allocations != 0)
        problem("%d allocations are not freed", library.allocations);
    if (library.mapped != 0)
        problem("%zu bytes are left mapped", library.mapped);
}

static unsigned count_call(const char *name)
{
    int i = 0;
    while (i < report->call_count && strcmp(report->calls[i].name, name) != 0)
        i++;
    if (i == CALLS_MAX)
        abort();
    if (i == report->call_count) {
        report->call_count++;
        report->calls[i].count = 0;
        snprintf(report->calls[i].name, sizeof(report->calls[i].name), "%s", name);
    }
    return ++report->calls[i].count;
}

/* Counts the call, and says which plan it fulfils; NULL: none. In a process that the plans are
 * not for, nothing counts. */
static const struct fault_plan *fault(const char *call, const char *kind)
{
    if (report == NULL || report->dumper != getpid())
        return NULL;
    char name[32];
    snprintf(name, sizeof(name), "%s%s%s", call, kind[0] != '\0' ? "." : "", kind);
    const struct fault_plan *hit = NULL;
    pthread_mutex_lock(&lock);
    const unsigned count = count_call(name);
    for (int i = 0; hit == NULL && i < report->plan_count; i++) {
        const struct fault_plan *plan = &report->plans[i];
        if (strcmp(plan->call, name) == 0 &&
            (count == plan->occurrence || (plan->always && count > plan->occurrence)))
            hit = plan;
    }
    if (hit != NULL && report->fired_step < 0)
        report->fired_step = report->step_count;
    pthread_mutex_unlock(&lock);
    return hit;
}

/* For functions that fail with -1 and errno. */
static bool fails(const char *call, const char *kind)
{
    const struct fault_plan *const plan = fault(call, kind);
    if (plan != NULL)
        errno = plan->error_number;
    return plan != NULL;
}

/* For functions that return the error. */
static int returned_error(const char *call)
{
    const struct fault_plan *const plan = fault(call, "");
    return plan != NULL ? plan->error_number : 0;
}

static void held(int *count, int change)
{
    pthread_mutex_lock(&lock);
    *count += change;
    pthread_mutex_unlock(&lock);
}

static const char *kind_of_path(const char *path)
{
    const char *const end = strrchr(path, '.');
    if (strncmp(path, "/proc/", 6) == 0)
        return "proc";
    return end != NULL && strcmp(end, ".dump") == 0  ? "dump"
           : end != NULL && strcmp(end, ".new") == 0 ? "new"
           : end != NULL && strcmp(end, ".map") == 0 ? "map"
                                                     : "source";
}

/* A stale file is another one. */
static const char *kind_of_stale(const char *path)
{
    const char *const kind = kind_of_path(path);
    return kind[0] == 'd'   ? "stale-dump"
           : kind[0] == 'n' ? "stale-new"
           : kind[0] == 'm' ? "stale-map"
           : kind[0] == 'p' ? "proc"
                            : "stale-source";
}

static const char *kind_of(int fd)
{
    return fd >= 0 && fd < DESCRIPTORS_MAX && kinds[fd] != NULL ? kinds[fd] : "unknown";
}

static int opened(int fd, const char *kind)
{
    if (fd >= DESCRIPTORS_MAX)
        abort();
    if (fd >= 0) {
        kinds[fd] = kind;
        held(&library.descriptors, 1);
    }
    return fd;
}

void faults_give_dump(int fd)
{
    if (fd < 0 || fd >= DESCRIPTORS_MAX)
        abort();
    kinds[fd] = "dump";
}

/* Files. The library's calls come under these names. */

int fault_open(const char *path, int flags, ...);
int fault_open(const char *path, int flags, ...)
{
    const bool creates = (flags & O_CREAT) != 0;
    const char *const kind = kind_of_path(path);
    if (fails(creates ? "open" : "open-stale", kind))
        return -1;
    mode_t mode = 0;
    if (creates) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    return opened(open(path, flags, mode), creates ? kind : kind_of_stale(path));
}

/* As Linux does it: the descriptor is closed in any case. */
int fault_close(int fd);
int fault_close(int fd)
{
    const bool failed = fails("close", kind_of(fd));
    const int saved_errno = errno;
    held(&library.descriptors, -1);
    const int result = close(fd);
    if (failed)
        errno = saved_errno;
    return failed ? -1 : result;
}

int fault_fchmod(int fd, mode_t mode);
int fault_fchmod(int fd, mode_t mode)
{
    return fails("fchmod", kind_of(fd)) ? -1 : fchmod(fd, mode);
}

/* Another descriptor of the same file, or how it was opened. */
int fault_fcntl(int fd, int command, ...);
int fault_fcntl(int fd, int command, ...)
{
    if (fails("fcntl", kind_of(fd)))
        return -1;
    va_list arguments;
    va_start(arguments, command);
    const int least = va_arg(arguments, int);
    va_end(arguments);
    const int result = fcntl(fd, command, least);
    return command == F_DUPFD_CLOEXEC ? opened(result, kind_of(fd)) : result;
}

int fault_flock(int fd, int operation);
int fault_flock(int fd, int operation)
{
    return fails("flock", kind_of(fd)) ? -1 : flock(fd, operation);
}

int fault_fstat(int fd, struct stat *status);
int fault_fstat(int fd, struct stat *status)
{
    return fails("fstat", kind_of(fd)) ? -1 : fstat(fd, status);
}

int fault_lstat(const char *path, struct stat *status);
int fault_lstat(const char *path, struct stat *status)
{
    return fails("lstat", kind_of_path(path)) ? -1 : lstat(path, status);
}

int fault_stat(const char *path, struct stat *status);
int fault_stat(const char *path, struct stat *status)
{
    return fails("stat", "") ? -1 : stat(path, status);
}

int fault_ftruncate(int fd, off_t size);
int fault_ftruncate(int fd, off_t size)
{
    return fails("ftruncate", kind_of(fd)) ? -1 : ftruncate(fd, size);
}

int fault_unlink(const char *path);
int fault_unlink(const char *path)
{
    return fails("unlink", kind_of_path(path)) ? -1 : unlink(path);
}

int fault_rename(const char *from, const char *to);
int fault_rename(const char *from, const char *to)
{
    return fails("rename", kind_of_path(from)) ? -1 : rename(from, to);
}

char *fault_realpath(const char *path, char *resolved);
char *fault_realpath(const char *path, char *resolved)
{
    return fails("realpath", "") ? NULL : realpath(path, resolved);
}

ssize_t fault_pread(int fd, void *bytes, size_t size, off_t offset);
ssize_t fault_pread(int fd, void *bytes, size_t size, off_t offset)
{
    return fails("pread", kind_of(fd)) ? -1 : pread(fd, bytes, size, offset);
}

static void note_write(const struct iovec *bytes, size_t total)
{
    pthread_mutex_lock(&lock);
    if (report->dumper == getpid() && report->write_count < WRITES_MAX) {
        report->writes[report->write_count].first = bytes[0].iov_len;
        report->writes[report->write_count++].total = total;
    }
    pthread_mutex_unlock(&lock);
}

ssize_t fault_writev(int fd, const struct iovec *bytes, int count);
ssize_t fault_writev(int fd, const struct iovec *bytes, int count)
{
    const char *const kind = kind_of(fd);
    size_t total = 0;
    for (int i = 0; i < count; i++)
        total += bytes[i].iov_len;
    if (strcmp(kind, "dump") == 0)
        note_write(bytes, total);
    const struct fault_plan *const plan = fault("writev", kind);
    if (plan == NULL)
        return writev(fd, bytes, count);
    if (plan->error_number != 0) {
        errno = plan->error_number;
        return -1;
    }
    size_t left = plan->size < total ? plan->size : total;
    struct iovec part[2];
    if (count > 2)
        abort();
    for (int i = 0; i < count; i++) {
        part[i].iov_base = bytes[i].iov_base;
        part[i].iov_len = left < bytes[i].iov_len ? left : bytes[i].iov_len;
        left -= part[i].iov_len;
    }
    return writev(fd, part, count);
}

/* Memory. */

void *fault_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *fault_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (fails("mmap", fd < 0 ? "memory" : kind_of(fd)))
        return MAP_FAILED;
    void *const memory = mmap(address, size, protection, flags, fd, offset);
    if (memory != MAP_FAILED)
        library.mapped += size;
    return memory;
}

int fault_munmap(void *address, size_t size);
int fault_munmap(void *address, size_t size)
{
    if (fails("munmap", ""))
        return -1;
    library.mapped -= size;
    return munmap(address, size);
}

static void *allocated(void *memory)
{
    if (memory != NULL)
        held(&library.allocations, 1);
    return memory;
}

void *fault_malloc(size_t size);
void *fault_malloc(size_t size)
{
    return fails("malloc", "") ? NULL : allocated(malloc(size));
}

void *fault_calloc(size_t count, size_t size);
void *fault_calloc(size_t count, size_t size)
{
    return fails("calloc", "") ? NULL : allocated(calloc(count, size));
}

/* As where the kernel does not know the advice. */
int fault_madvise(void *address, size_t size, int advice);
int fault_madvise(void *address, size_t size, int advice)
{
    return fails("madvise", "") ? -1 : madvise(address, size, advice);
}

char *fault_strdup(const char *text);
char *fault_strdup(const char *text)
{
    return fails("strdup", "") ? NULL : allocated(strdup(text));
}

void fault_free(void *memory);
void fault_free(void *memory)
{
    if (memory != NULL)
        held(&library.allocations, -1);
    free(memory);
}

/* Threads, signals, and what has no function of its own. */

int fault_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                         void *(*start)(void *), void *argument);
int fault_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                         void *(*start)(void *), void *argument)
{
    const int error = returned_error("pthread_create");
    return error != 0 ? error : pthread_create(thread, attributes, start, argument);
}

int fault_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int fault_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    const int error = returned_error("pthread_atfork");
    return error != 0 ? error : pthread_atfork(prepare, parent, child);
}

int fault_pthread_setname_np(pthread_t thread, const char *name);
int fault_pthread_setname_np(pthread_t thread, const char *name)
{
    const int error = returned_error("pthread_setname_np");
    return error != 0 ? error : pthread_setname_np(thread, name);
}

int fault_pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
int fault_pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    /* Setting back what was changed does not fail where changing it did not. */
    const int error = before != NULL ? returned_error("pthread_sigmask") : 0;
    return error != 0 ? error : pthread_sigmask(how, set, before);
}

int fault_sigpending(sigset_t *set);
int fault_sigpending(sigset_t *set)
{
    return fails("sigpending", "") ? -1 : sigpending(set);
}

int fault_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);
int fault_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    return fails("sigtimedwait", "") ? -1 : sigtimedwait(set, info, timeout);
}

long fault_syscall(long number, ...);
long fault_syscall(long number, ...)
{
    if (number == SYS_gettid)
        return syscall(number);
    enum { FUTEX_WAKE = 1, PRIVATE = 128 };
    long arguments[5] = {0};
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 3; i++)
        arguments[i] = va_arg(list, long);
    const bool wakes = number == SYS_futex && (int)arguments[1] == (FUTEX_WAKE | PRIVATE);
    for (int i = 3; !wakes && i < (number == SYS_perf_event_open ? 5 : 4); i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    const bool failed = fails(number == SYS_perf_event_open ? "perf_event_open"
                              : wakes                       ? "futex-wake"
                                                            : "futex-wait",
                              "");
    const int saved_errno = errno;
    /* The kernel refuses a sleep, but not a wake-up to those who sleep. */
    if (failed && !wakes)
        return -1;
    const long result =
        syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]);
    if (failed)
        errno = saved_errno;
    if (number == SYS_perf_event_open)
        opened((int)result, "perf-event");
    return failed ? -1 : result;
}
