#define _GNU_SOURCE
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 4096

struct plan {
    _Atomic uint32_t after, times, happened;
    _Atomic int error_number;
    _Atomic uint32_t partial;
};

static struct plan plans[FAULT_KINDS];
static _Thread_local bool in_library;
static _Atomic bool is_open[DESCRIPTORS_MAX];
static _Atomic int descriptors, mappings;
static _Atomic uint64_t file_size_limit;
static uint32_t pid;
static void (*before_fork)(void), (*in_child)(void);

uint32_t faults_pid(void)
{
    return pid;
}

pid_t __real_getpid(void);
pid_t __wrap_getpid(void);
pid_t __wrap_getpid(void)
{
    return in_library ? (pid_t)pid : __real_getpid();
}

void faults_reset(void)
{
    memset(plans, 0, sizeof(plans));
    file_size_limit = RLIM_INFINITY;
    pid = faults_first_pid();
}

/* No other process has such a pid, or will have it with this one alive. */
uint32_t faults_first_pid(void)
{
    return 10000000 + (uint32_t)__real_getpid() * 100;
}

void faults_arm(enum fault fault, uint32_t after, uint32_t times, int error_number,
                uint32_t partial)
{
    struct plan *plan = &plans[fault];
    plan->after = after;
    plan->times = times;
    plan->error_number = error_number;
    plan->partial = partial;
}

bool faults_happened(enum fault fault)
{
    return plans[fault].happened != 0;
}

bool faults_possible(enum fault fault)
{
    return plans[fault].happened != 0 || plans[fault].times != 0;
}

void faults_limit_file_size(uint64_t size)
{
    file_size_limit = size;
}

void faults_enter(void)
{
    in_library = true;
}

void faults_leave(void)
{
    in_library = false;
}

int faults_descriptors(void)
{
    return descriptors;
}

int faults_mappings(void)
{
    return mappings;
}

void faults_fork(void)
{
    pid++;
    if (before_fork == NULL)
        return;
    before_fork();
    in_child();
}

/* Whether this call of the kind is to fail; then errno is set. */
static bool fails(enum fault fault)
{
    struct plan *plan = &plans[fault];
    if (plan->times == 0)
        return false;
    if (plan->after != 0) {
        plan->after--;
        return false;
    }
    plan->times--;
    plan->happened++;
    errno = plan->error_number;
    return true;
}

int __wrap_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));
int __wrap_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
    (void)parent;
    before_fork = before;
    in_child = child;
    return 0;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (!in_library)
        return __real_open(path, flags, mode);
    if (fails(FAULT_OPEN))
        return -1;
    const int fd = __real_open(path, flags, mode);
    if (fd >= 0 && fd < DESCRIPTORS_MAX) {
        is_open[fd] = true;
        descriptors++;
    }
    return fd;
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    if (fd >= 0 && fd < DESCRIPTORS_MAX && is_open[fd]) {
        is_open[fd] = false;
        descriptors--;
    }
    return __real_close(fd);
}

void *__real_mmap(void *addr, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (!in_library)
        return __real_mmap(addr, size, protection, flags, fd, offset);
    if (fails(FAULT_MMAP))
        return MAP_FAILED;
    void *memory = __real_mmap(addr, size, protection, flags, fd, offset);
    mappings += memory != MAP_FAILED;
    return memory;
}

int __real_munmap(void *addr, size_t size);
int __wrap_munmap(void *addr, size_t size);
int __wrap_munmap(void *addr, size_t size)
{
    mappings -= in_library;
    return __real_munmap(addr, size);
}

/* The next one fails then as it should, unless it succeeds. */
static ssize_t write_part(int fd, const struct iovec *bytes, int count, size_t size)
{
    ssize_t total = 0;
    for (int i = 0; i < count && size != 0; i++) {
        const size_t part = bytes[i].iov_len < size ? bytes[i].iov_len : size;
        total += write(fd, bytes[i].iov_base, part);
        size -= part;
    }
    return total;
}

/* How much the limit lets a file take. No SIGXFSZ comes there: that the library holds it off is
 * tested elsewhere. */
static size_t left_of_limit(int fd)
{
    struct stat status;
    if (fd >= DESCRIPTORS_MAX || !is_open[fd] || fstat(fd, &status) != 0)
        return SIZE_MAX;
    const uint64_t size = (uint64_t)status.st_size, limit = file_size_limit;
    return size < limit ? (size_t)(limit - size) : 0;
}

ssize_t __real_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count)
{
    size_t size = 0;
    for (int i = 0; i < count; i++)
        size += bytes[i].iov_len;
    const size_t left = left_of_limit(fd);
    size_t partial = plans[FAULT_WRITEV].partial;
    if (fails(FAULT_WRITEV)) {
        partial = partial < left ? partial : left;
        return partial != 0 && partial < size ? write_part(fd, bytes, count, partial) : -1;
    }
    if (size <= left && size <= WRITE_SIZE_MAX)
        return __real_writev(fd, bytes, count);
    if (left != 0 && size > left)
        return write_part(fd, bytes, count, left);
    plans[FAULT_WRITEV].happened++;
    errno = left == 0 ? EFBIG : ENOSPC;
    return -1;
}

int __real_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size)
{
    return fails(FAULT_FTRUNCATE) ? -1 : __real_ftruncate(fd, size);
}

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
int __wrap_flock(int fd, int operation)
{
    return fails(FAULT_FLOCK) ? -1 : __real_flock(fd, operation);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return in_library && fails(FAULT_MALLOC) ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return in_library && fails(FAULT_MALLOC) ? NULL : __real_calloc(count, size);
}

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size)
{
    return in_library && fails(FAULT_MALLOC) ? NULL : __real_realloc(memory, size);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument)
{
    if (in_library && fails(FAULT_THREAD))
        return EAGAIN;
    return __real_pthread_create(thread, attributes, function, argument);
}
