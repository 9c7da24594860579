/* The file on disk: what is in the way when it is created, and what goes wrong later. */
#define _GNU_SOURCE
#include "child.h"

#include "system/dump_file.h"
#include "jitdump.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Faults. While `pass` is above 0, a call of writev is let through and counts it down;
 * then each of the results in turn: -errno, or at most so many bytes. */
static struct {
    int pass;
    int count;
    long results[4];
    int calls;
} write_faults;
static int ftruncate_errno;
static int mmap_errno;
static int flock_errno;
/* As on NFS, where a lock is one on a range of bytes: a descriptor has to be open for writing. */
static bool flock_wants_writing;

ssize_t __real_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count)
{
    write_faults.calls++;
    if (write_faults.pass > 0 || write_faults.count == 0) {
        write_faults.pass -= write_faults.pass > 0;
        return __real_writev(fd, bytes, count);
    }
    const long result = write_faults.results[0];
    memmove(write_faults.results, write_faults.results + 1, sizeof(write_faults.results) -
                                                                sizeof(write_faults.results[0]));
    write_faults.count--;
    if (result < 0) {
        errno = (int)-result;
        return -1;
    }
    size_t left = (size_t)result, done = 0;
    for (int i = 0; i < count && left > 0; i++) {
        const size_t step = bytes[i].iov_len < left ? bytes[i].iov_len : left;
        assert_int_equal(write(fd, bytes[i].iov_base, step), step);
        left -= step;
        done += step;
    }
    return (ssize_t)done;
}

int __real_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size)
{
    if (ftruncate_errno != 0) {
        errno = ftruncate_errno;
        ftruncate_errno = 0;
        return -1;
    }
    return __real_ftruncate(fd, size);
}

void *__real_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (mmap_errno != 0) {
        errno = mmap_errno;
        return MAP_FAILED;
    }
    return __real_mmap(address, size, protection, flags, fd, offset);
}

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
int __wrap_flock(int fd, int operation)
{
    if (flock_wants_writing && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) {
        errno = EBADF;
        return -1;
    }
    if (flock_errno != 0) {
        errno = flock_errno;
        return -1;
    }
    return __real_flock(fd, operation);
}

static int set_up(void **state)
{
    memset(&write_faults, 0, sizeof(write_faults));
    ftruncate_errno = mmap_errno = flock_errno = 0;
    flock_wants_writing = false;
    return make_temporary_directory(state);
}

static const struct jitdump_file_header *header(void)
{
    static struct jitdump_file_header header = {.magic = JITDUMP_MAGIC,
                                                .version = JITDUMP_FILE_VERSION,
                                                .total_size = sizeof(header),
                                                .elf_mach = 62,
                                                .timestamp = 1};
    header.pid = (uint32_t)getpid();
    return &header;
}

static struct dump_file file;

static int create(const char *directory)
{
    return jd_dump_file_create(&file, directory, SIGXFSZ, header());
}

static void a_new_file_has_header_mode_and_marker(void **state)
{
    const int descriptors = count_descriptors();
    const mode_t mask = umask(0777);
    assert_int_equal(create(*state), 0);
    umask(mask);

    const char *path = dump_path(*state, getpid());
    assert_string_equal(file.path, path);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    struct contents contents = read_file(path);
    assert_int_equal(contents.size, sizeof(*header()));
    assert_memory_equal(contents.bytes, header(), contents.size);
    free(contents.bytes);
    assert_int_equal(count_mappings(path, "r-xp"), 1);
    assert_int_equal(count_descriptors(), descriptors + 1);
    assert_int_equal(fcntl(file.on_disk.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);

    jd_dump_file_close(&file, false);
    assert_int_equal(count_mappings(path, "r-xp"), 0);
    assert_int_equal(count_descriptors(), descriptors);
    assert_int_equal(stat(path, &status), 0);
}

static void a_stale_dump_is_replaced(void **state)
{
    const char *path = dump_path(*state, getpid());
    FILE *stale = fopen(path, "w");
    for (int i = 0; i < 1000; i++)
        fputs("stale", stale);
    fclose(stale);
    make_old(path);
    assert_int_equal(create(*state), 0);
    struct contents contents = read_file(path);
    assert_int_equal(contents.size, sizeof(*header()));
    free(contents.bytes);
    jd_dump_file_close(&file, true);
    assert_int_equal(access(path, F_OK), -1);
}

static void a_living_dump_is_not_replaced(void **state)
{
    assert_int_equal(create(*state), 0);
    struct dump_file second;
    assert_int_equal(jd_dump_file_create(&second, *state, SIGXFSZ, header()), JITDUMP_ERROR_FILE_IN_USE);
    assert_int_equal(access(file.path, F_OK), 0);
    jd_dump_file_close(&file, false);
    /* Once it is closed it is stale. */
    assert_int_equal(jd_dump_file_create(&second, *state, SIGXFSZ, header()), 0);
    jd_dump_file_close(&second, true);
}

static int64_t realtime_ns(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t set_age(const char *path, int64_t age_ns)
{
    const int64_t ns = realtime_ns() - age_ns;
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                                      {(time_t)(ns / 1000000000), (long)(ns % 1000000000) | 1}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    return age_ns;
}

/* Just behind the process's start. */
static int64_t started_ns;
__attribute__((constructor)) static void note_start(void)
{
    started_ns = realtime_ns();
}

/* What V8 and CPython write in the same process is locked by nobody. */
static void a_dump_of_another_emitter_in_this_process_is_not_replaced(void **state)
{
    const char *path = dump_path(*state, getpid());
    FILE *another = fopen(path, "w");
    fputs("dump", another);
    fflush(another);
    struct stat before, after;
    assert_int_equal(fstat(fileno(another), &before), 0);
    assert_int_equal(create(*state), JITDUMP_ERROR_FILE_IN_USE);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
    assert_int_equal(after.st_size, 4);
    fclose(another);
    /* An earlier process's is older than this one. */
    const int64_t running = realtime_ns() - started_ns;
    set_age(path, running);
    assert_int_equal(create(*state), JITDUMP_ERROR_FILE_IN_USE);
    set_age(path, running + INT64_C(2000000000));
    assert_int_equal(create(*state), 0);
    jd_dump_file_close(&file, false);

    /* In the place of a dump of ours, with its inode number perhaps. */
    assert_int_equal(stat(path, &before), 0);
    do {
        assert_int_equal(unlink(path), 0);
        another = fopen(path, "w");
        assert_int_equal(fstat(fileno(another), &after), 0);
        fclose(another);
    } while (after.st_mtim.tv_sec == before.st_mtim.tv_sec &&
             after.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
    assert_int_equal(create(*state), JITDUMP_ERROR_FILE_IN_USE);
}

/* Its descriptor, and with it the lock, was closed by the program. */
static void a_dump_of_ours_that_lost_its_descriptor_is_replaced_once_it_is_closed(void **state)
{
    assert_int_equal(create(*state), 0);
    close(file.on_disk.fd);
    struct dump_file second;
    assert_int_equal(jd_dump_file_create(&second, *state, SIGXFSZ, header()), JITDUMP_ERROR_FILE_IN_USE);
    jd_dump_file_close(&file, false);
    assert_int_equal(jd_dump_file_create(&second, *state, SIGXFSZ, header()), 0);
    jd_dump_file_close(&second, true);
}

static void on_nfs_a_living_dump_is_not_replaced_and_a_stale_one_is(void **state)
{
    flock_wants_writing = true;
    a_living_dump_is_not_replaced(state);
    a_stale_dump_is_replaced(state);
    if (geteuid() == 0) {
        print_message("skipped in part: root may write to any file\n");
        return;
    }
    /* It can't be told whether anybody has locked what may not be written to. */
    fclose(fopen(dump_path(*state, getpid()), "w"));
    make_old(dump_path(*state, getpid()));
    assert_int_equal(chmod(dump_path(*state, getpid()), 0400), 0);
    assert_int_equal(create(*state), JITDUMP_ERROR_FILE_IN_USE);
}

/* Where a lock needs no more than reading, a stale dump may have become read-only. */
static void a_stale_dump_may_be_read_only(void **state)
{
    fclose(fopen(dump_path(*state, getpid()), "w"));
    make_old(dump_path(*state, getpid()));
    assert_int_equal(chmod(dump_path(*state, getpid()), 0400), 0);
    assert_int_equal(create(*state), 0);
    jd_dump_file_close(&file, true);
}

static void foreign_things_are_left_alone(void **state)
{
    const char *path = dump_path(*state, getpid());
    char target[PATH_MAX];
    snprintf(target, sizeof(target), "%s/precious", (const char *)*state);
    FILE *precious = fopen(target, "w");
    fputs("precious", precious);
    fclose(precious);
    struct stat before, after;
    assert_int_equal(stat(target, &before), 0);

    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(create(*state), JITDUMP_ERROR_FILE_FOREIGN);
    assert_int_equal(lstat(path, &after), 0);
    assert_true(S_ISLNK(after.st_mode));
    assert_int_equal(unlink(path), 0);

    assert_int_equal(symlink("/nowhere/at/all", path), 0);
    assert_int_equal(create(*state), JITDUMP_ERROR_FILE_FOREIGN);
    assert_int_equal(unlink(path), 0);

    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(create(*state), JITDUMP_ERROR_FILE_FOREIGN);
    assert_int_equal(unlink(path), 0);

    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(create(*state), JITDUMP_ERROR_FILE_FOREIGN);
    assert_int_equal(rmdir(path), 0);

    assert_int_equal(stat(target, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
}

static void another_users_file_is_left_alone(void **state)
{
    if (geteuid() != 0) {
        print_message("skipped: only root can give files away\n");
        skip();
    }
    const char *path = dump_path(*state, getpid());
    fclose(fopen(path, "w"));
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_int_equal(create(*state), JITDUMP_ERROR_FILE_FOREIGN);
    assert_int_equal(access(path, F_OK), 0);
}

static void a_file_system_without_locks_will_do(void **state)
{
    flock_errno = ENOLCK;
    fclose(fopen(dump_path(*state, getpid()), "w"));
    make_old(dump_path(*state, getpid()));
    assert_int_equal(create(*state), 0);
    jd_dump_file_close(&file, true);
}

/* The real refusal, on a real noexec mount, is tested with perf. */
static void a_marker_that_cannot_be_mapped_leaves_nothing(void **state)
{
    static const struct {
        int error_number;
        int error;
    } cases[] = {{EPERM, JITDUMP_ERROR_DIRECTORY_NOEXEC},
                 {EACCES, JITDUMP_ERROR_DIRECTORY_NOEXEC},
                 {ENOMEM, JITDUMP_ERROR_NO_MEMORY},
                 {ENODEV, JITDUMP_ERROR_IO}};
    const int descriptors = count_descriptors();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        mmap_errno = cases[i].error_number;
        assert_int_equal(create(*state), cases[i].error);
        mmap_errno = 0;
        assert_int_equal(file.error_number, cases[i].error_number);
        assert_int_equal(access(dump_path(*state, getpid()), F_OK), -1);
        assert_int_equal(count_descriptors(), descriptors);
    }
}

static void a_header_that_cannot_be_written_leaves_nothing(void **state)
{
    write_faults.count = 2;
    write_faults.results[0] = 10;
    write_faults.results[1] = -ENOSPC;
    const int descriptors = count_descriptors();
    assert_int_equal(create(*state), JITDUMP_ERROR_DISK_FULL);
    assert_int_equal(access(dump_path(*state, getpid()), F_OK), -1);
    assert_int_equal(count_descriptors(), descriptors);
}

static void the_directory_must_be_there_and_writable(void **state)
{
    char absolute[PATH_MAX], path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/missing", (const char *)*state);
    assert_int_equal(jd_dump_file_directory(path, absolute), JITDUMP_ERROR_DIRECTORY_MISSING);
    assert_string_equal(absolute, path);

    fclose(fopen(path, "w"));
    assert_int_equal(jd_dump_file_directory(path, absolute), JITDUMP_ERROR_DIRECTORY_MISSING);
    assert_int_equal(create(path), JITDUMP_ERROR_DIRECTORY_MISSING);
    unlink(path);

    if (geteuid() != 0) {
        assert_int_equal(chmod(*state, 0500), 0);
        assert_int_equal(create(*state), JITDUMP_ERROR_DIRECTORY_NOT_WRITABLE);
        assert_int_equal(chmod(*state, 0700), 0);
        return;
    }
    /* Root may write anywhere; a child that is not root may not. */
    const pid_t child = fork();
    if (child == 0) {
        if (setuid(65534) != 0)
            _exit(100);
        _exit(-create(*state));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(-WEXITSTATUS(status), JITDUMP_ERROR_DIRECTORY_NOT_WRITABLE);
}

static void the_directory_is_found_where_the_user_says(void **state)
{
    char absolute[PATH_MAX], current[PATH_MAX], dotted[PATH_MAX];
    snprintf(dotted, sizeof(dotted), "%s/.", (const char *)*state);
    unsetenv("JITDUMPDIR");
    assert_non_null(getcwd(current, sizeof(current)));
    assert_int_equal(jd_dump_file_directory(NULL, absolute), 0);
    assert_string_equal(absolute, current);
    setenv("JITDUMPDIR", *state, 1);
    assert_int_equal(jd_dump_file_directory(NULL, absolute), 0);
    assert_string_equal(absolute, *state);
    assert_int_equal(jd_dump_file_directory("/", absolute), 0);
    assert_string_equal(absolute, "/");
    setenv("JITDUMPDIR", "", 1);
    assert_int_equal(jd_dump_file_directory(NULL, absolute), 0);
    assert_string_equal(absolute, current);
    unsetenv("JITDUMPDIR");
    assert_int_equal(jd_dump_file_directory(dotted, absolute), 0);
    assert_string_equal(absolute, *state);
}

static void a_path_too_long_is_an_error(void **state)
{
    (void)state;
    char directory[PATH_MAX];
    memset(directory, 'd', sizeof(directory));
    directory[sizeof(directory) - 1] = '\0';
    assert_int_equal(create(directory), JITDUMP_ERROR_IO);
    assert_int_equal(file.error_number, ENAMETOOLONG);
}

/* Three records of 100, 20 and 60 bytes, the last ending in the second element. */
static struct iovec *three_records(void)
{
    static unsigned char first[140], second[40];
    static struct iovec bytes[2] = {{first, sizeof(first)}, {second, sizeof(second)}};
    const struct jit_record_header headers[3] = {{5, 100, 1}, {6, 20, 2}, {0, 60, 3}};
    memset(first, 'x', sizeof(first));
    memset(second, 'y', sizeof(second));
    memcpy(first, &headers[0], sizeof(headers[0]));
    memcpy(first + 100, &headers[1], sizeof(headers[1]));
    memcpy(first + 120, &headers[2], sizeof(headers[2]));
    return bytes;
}

static void short_and_interrupted_writes_are_continued(void **state)
{
    assert_int_equal(create(*state), 0);
    write_faults.count = 4;
    write_faults.results[0] = -EINTR;
    write_faults.results[1] = 7;
    write_faults.results[2] = -EINTR;
    write_faults.results[3] = 135; /* into the second element */
    assert_int_equal(jd_dump_file_append(&file, three_records(), 2), 0);
    struct contents contents = read_file(file.path);
    assert_int_equal(contents.size, 40 + 180);
    assert_memory_equal(contents.bytes + 40, three_records()[0].iov_base, 140);
    assert_memory_equal(contents.bytes + 180, three_records()[1].iov_base, 40);
    free(contents.bytes);
    jd_dump_file_close(&file, true);
}

/* As is the rule for 64-bit processes; others have to ask for it. */
static void a_file_may_pass_2_gib(void **state)
{
    const off_t size = (off_t)UINT32_MAX;
    assert_int_equal(create(*state), 0);
    assert_int_equal(truncate(file.path, size), 0);
    assert_int_equal(jd_dump_file_append(&file, three_records(), 2), 0);
    struct stat status;
    assert_int_equal(stat(file.path, &status), 0);
    assert_true(status.st_size > size);
    jd_dump_file_close(&file, false);
    /* And be taken for stale. */
    assert_int_equal(create(*state), 0);
    assert_int_equal(stat(file.path, &status), 0);
    assert_int_equal(status.st_size, sizeof(*header()));
    jd_dump_file_close(&file, true);
}

static void a_failed_write_cuts_back_to_the_last_whole_record(void **state)
{
    static const struct {
        long written;
        int error_number;
        int error;
        size_t kept;
    } cases[] = {
        {0, ENOSPC, JITDUMP_ERROR_DISK_FULL, 0},      {1, EDQUOT, JITDUMP_ERROR_DISK_FULL, 0},
        {99, EIO, JITDUMP_ERROR_IO, 0},               {100, EIO, JITDUMP_ERROR_IO, 100},
        {110, EFBIG, JITDUMP_ERROR_FILE_TOO_LARGE, 100}, {119, ENOSPC, JITDUMP_ERROR_DISK_FULL, 100},
        {120, EIO, JITDUMP_ERROR_IO, 120},            {130, EIO, JITDUMP_ERROR_IO, 120},
        {139, EBADF, JITDUMP_ERROR_IO, 120},          {150, EACCES, JITDUMP_ERROR_IO, 120},
        {179, ENOSPC, JITDUMP_ERROR_DISK_FULL, 120},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(create(*state), 0);
        write_faults.pass = 1;
        write_faults.count = 2;
        write_faults.results[0] = cases[i].written;
        write_faults.results[1] = -cases[i].error_number;
        if (cases[i].written == 0) {
            write_faults.results[0] = -cases[i].error_number;
            write_faults.count = 1;
        }
        assert_int_equal(jd_dump_file_append(&file, three_records(), 2), 0);
        ftruncate_errno = EINTR;
        assert_int_equal(jd_dump_file_append(&file, three_records(), 2), cases[i].error);
        assert_int_equal(file.error_number, cases[i].error_number);
        struct stat status;
        assert_int_equal(stat(file.path, &status), 0);
        assert_int_equal(status.st_size, 220 + cases[i].kept);

        /* It takes no more, and does not even try. */
        const int calls = write_faults.calls;
        assert_int_equal(jd_dump_file_append(&file, three_records(), 2), cases[i].error);
        assert_int_equal(write_faults.calls, calls);
        jd_dump_file_close(&file, true);
    }
}

/* What goes before a JIT_CODE_LOAD says nothing without it. */
static void a_function_is_kept_whole_or_not_at_all(void **state)
{
    static const long written[] = {59, 100, 139, 179};
    /* What may precede a load: lines and unwinding; samply's inline record and tier. */
    static const uint32_t ids[][2] = {{2, 4}, {827346259, 827346260}};
    for (size_t i = 0; i < 2 * sizeof(written) / sizeof(written[0]); i++) {
        struct iovec *group = three_records();
        memcpy(group[0].iov_base, &ids[i % 2][0], sizeof(ids[0][0]));
        memcpy((char *)group[0].iov_base + 100, &ids[i % 2][1], sizeof(ids[0][1]));
        assert_int_equal(create(*state), 0);
        write_faults.count = 2;
        write_faults.results[0] = written[i / 2];
        write_faults.results[1] = -ENOSPC;
        assert_int_equal(jd_dump_file_append(&file, group, 2), JITDUMP_ERROR_DISK_FULL);
        struct stat status;
        assert_int_equal(stat(file.path, &status), 0);
        assert_int_equal(status.st_size, 40);
        jd_dump_file_close(&file, true);
    }
}

static void a_write_that_takes_nothing_is_an_error(void **state)
{
    assert_int_equal(create(*state), 0);
    write_faults.count = 1;
    write_faults.results[0] = 0;
    assert_int_equal(jd_dump_file_append(&file, three_records(), 2), JITDUMP_ERROR_DISK_FULL);
    jd_dump_file_close(&file, true);
}

static int set_limit(rlim_t size)
{
    const struct rlimit limit = {size, RLIM_INFINITY};
    return setrlimit(RLIMIT_FSIZE, &limit);
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    (void)number;
    signals++;
}

static bool is_pending(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ);
}

/* The default of SIGXFSZ is death. */
static void the_resource_limit_is_kept_without_a_signal(void **state)
{
    enum { NO_HANDLER = 0, HANDLER = 1, BLOCKED = 2, PENDING = 4, ALL = 8 };
    for (int how = 0; how < ALL; how++) {
        assert_int_equal(create(*state), 0);
        assert_int_equal(jd_dump_file_append(&file, three_records(), 2), 0);
        const pid_t child = fork();
        if (child == 0) {
            sigset_t set, mask, mask_after;
            sigemptyset(&set);
            sigaddset(&set, SIGXFSZ);
            if ((how & HANDLER) != 0)
                signal(SIGXFSZ, count_signal);
            pthread_sigmask((how & BLOCKED) != 0 ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
            const bool pending = (how & PENDING) != 0 && (how & BLOCKED) != 0;
            if (pending)
                raise(SIGXFSZ);
            pthread_sigmask(SIG_SETMASK, NULL, &mask);
            if (set_limit(220 + 179) != 0 ||
                jd_dump_file_append(&file, three_records(), 2) != JITDUMP_ERROR_FILE_TOO_LARGE ||
                is_pending() != pending || signals != 0)
                _exit(1);
            pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
            for (int number = 1; number < NSIG; number++)
                if (sigismember(&mask, number) != sigismember(&mask_after, number))
                    _exit(2);
            _exit(0);
        }
        assert_child_succeeds(child);
        struct stat status;
        assert_int_equal(stat(file.path, &status), 0);
        assert_int_equal(status.st_size, 220 + 120);
        jd_dump_file_close(&file, true);
    }
}

/* Cutting back must not make it longer: zeros end a consumer's reading. */
static void a_file_cut_by_someone_else_is_not_lengthened(void **state)
{
    assert_int_equal(create(*state), 0);
    assert_int_equal(jd_dump_file_append(&file, three_records(), 2), 0);
    assert_int_equal(truncate(file.path, 60), 0);
    write_faults.count = 2;
    write_faults.results[0] = 110;
    write_faults.results[1] = -ENOSPC;
    assert_int_equal(jd_dump_file_append(&file, three_records(), 2), JITDUMP_ERROR_DISK_FULL);
    struct stat status;
    assert_int_equal(stat(file.path, &status), 0);
    assert_int_equal(status.st_size, 60 + 100);
    jd_dump_file_close(&file, true);
}

static void unlinking_spares_what_others_have_put_there(void **state)
{
    assert_int_equal(create(*state), 0);
    assert_int_equal(unlink(file.path), 0);
    fclose(fopen(file.path, "w"));
    jd_dump_file_close(&file, true);
    assert_int_equal(access(dump_path(*state, getpid()), F_OK), 0);
}

static void an_abandoned_file_keeps_its_marker(void **state)
{
    const int descriptors = count_descriptors();
    assert_int_equal(create(*state), 0);
    jd_dump_file_abandon(&file);
    assert_int_equal(count_descriptors(), descriptors);
    assert_int_equal(count_mappings(file.path, "r-xp"), 1);
    jd_dump_file_close(&file, true);
    assert_int_equal(count_mappings(file.path, "r-xp"), 0);
    assert_int_equal(access(file.path, F_OK), 0); /* no longer known to be ours */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, remove_temporary_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_file_has_header_mode_and_marker),
        TEST(a_stale_dump_is_replaced),
        TEST(a_living_dump_is_not_replaced),
        TEST(a_dump_of_another_emitter_in_this_process_is_not_replaced),
        TEST(a_dump_of_ours_that_lost_its_descriptor_is_replaced_once_it_is_closed),
        TEST(on_nfs_a_living_dump_is_not_replaced_and_a_stale_one_is),
        TEST(a_stale_dump_may_be_read_only),
        TEST(foreign_things_are_left_alone),
        TEST(another_users_file_is_left_alone),
        TEST(a_file_system_without_locks_will_do),
        TEST(a_marker_that_cannot_be_mapped_leaves_nothing),
        TEST(a_header_that_cannot_be_written_leaves_nothing),
        TEST(the_directory_must_be_there_and_writable),
        TEST(the_directory_is_found_where_the_user_says),
        TEST(a_path_too_long_is_an_error),
        TEST(short_and_interrupted_writes_are_continued),
        TEST(a_file_may_pass_2_gib),
        TEST(a_failed_write_cuts_back_to_the_last_whole_record),
        TEST(a_function_is_kept_whole_or_not_at_all),
        TEST(a_write_that_takes_nothing_is_an_error),
        TEST(the_resource_limit_is_kept_without_a_signal),
        TEST(a_file_cut_by_someone_else_is_not_lengthened),
        TEST(unlinking_spares_what_others_have_put_there),
        TEST(an_abandoned_file_keeps_its_marker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
