/* What someone else has put at the path of a file that the library wants to make: before it
 * begins, between any two of its steps, and all the time. */
#define _GNU_SOURCE
#include "../../unit/child.h"
#include "planted.h"

#include "jitdump.h"
#include "system/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From linux/fs.h, which a C library need not ship. */
#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1 << 1)
#endif

/* Before the step of this number, something is put in the path's place; 0: never. */
static int plant_at;
static int steps;
static char path[PATH_MAX];
static enum planted_kind kind;
static struct planted planted;

int __real_unlink(const char *name);

static void clear(void)
{
    if (__real_unlink(path) != 0 && errno == EISDIR)
        rmdir(path);
}

/* Several processes at work: each step is a chance for the others. */
static bool yielding;

static void step(void)
{
    if (yielding)
        sched_yield();
    if (++steps != plant_at)
        return;
    const int error_number = errno;
    clear();
    planted = planted_make(kind, directory, path);
    errno = error_number;
}

int __real_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    step();
    return __real_open(name, flags, mode);
}

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
int __wrap_flock(int fd, int operation)
{
    step();
    return __real_flock(fd, operation);
}

int __wrap_unlink(const char *name);
int __wrap_unlink(const char *name)
{
    step();
    return __real_unlink(name);
}

int __real_fchmod(int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode)
{
    step();
    return __real_fchmod(fd, mode);
}

static int set_up(void **state)
{
    plant_at = 0;
    if (make_temporary_directory(state) != 0)
        return -1;
    planted_prepare(directory);
    return 0;
}

#define CLOSED_DUMP_SIZE (40 + 16)

/* One file of each sort. */

static int open_dump(struct jitdump **dump, uint32_t flags)
{
    const struct jitdump_options options = {
        .struct_size = sizeof(options), .flags = flags, .directory = directory};
    return jitdump_open(dump, &options);
}

static int make_dump(struct jitdump **dump)
{
    return open_dump(dump, 0);
}

static int make_perf_map(struct jitdump **dump)
{
    return open_dump(dump, JITDUMP_PERF_MAP);
}

static int make_source_file(struct jitdump **dump)
{
    assert_int_equal(open_dump(dump, JITDUMP_SOURCE_FILES), 0);
    return jitdump_embed_source(*dump, "a.js", "text", 4);
}

static const struct target {
    const char *format; /* of the path: directory, pid */
    int (*make)(struct jitdump **dump);
    int error;
} files[] = {
    {"%s/jit-%d.dump", make_dump, JITDUMP_ERROR_FILE_FOREIGN},
    {"%.0s/tmp/perf-%d.map", make_perf_map, JITDUMP_ERROR_PERF_MAP},
    {"%s/jit-%d-0-a.js", make_source_file, JITDUMP_ERROR_SOURCE_FILE},
};
#define FILES (sizeof(files) / sizeof(files[0]))

static void set_path(const struct target *target)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(path, sizeof(path), target->format, directory, (int)getpid());
#pragma GCC diagnostic pop
}

static void foreign_things_stay_as_they_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++)
        for (kind = 0; kind < PLANTED_KINDS; kind++) {
            if (!planted_possible(kind))
                continue;
            set_path(&files[i]);
            planted = planted_make(kind, directory, path);
            struct jitdump *dump;
            assert_int_equal(files[i].make(&dump), files[i].error);
            planted_assert_untouched(&planted, path);
            jitdump_close(dump);
            planted_assert_untouched(&planted, path);
            clear();
        }
}

/* A file of ours with a second name is a stale dump only under the one. */
static void a_hard_link_is_removed_and_its_file_stays(void **state)
{
    (void)state;
    char precious[PATH_MAX];
    snprintf(precious, sizeof(precious), "%s/precious", directory);
    for (size_t i = 0; i < FILES; i++) {
        set_path(&files[i]);
        /* /tmp may be another file system. */
        if (link(precious, path) != 0 && errno == EXDEV)
            continue;
        make_old(precious);
        struct stat before, after;
        assert_int_equal(stat(precious, &before), 0);
        assert_int_equal(before.st_nlink, 2);
        struct jitdump *dump;
        assert_int_equal(files[i].make(&dump), 0);
        jitdump_close(dump);
        assert_int_equal(stat(precious, &after), 0);
        assert_int_equal(after.st_nlink, 1);
        assert_int_equal(after.st_size, before.st_size);
        clear();
    }
}

static bool is_ours(int fd)
{
    struct stat there, opened;
    return lstat(path, &there) == 0 && fstat(fd, &opened) == 0 &&
           S_ISREG(there.st_mode) && there.st_ino == opened.st_ino && opened.st_size == 0 &&
           (opened.st_mode & 07777) == 0600;
}

/* One run with the thing planted at the step: nothing is written through it or taken for ours. */
static void plant_between_steps(bool stale)
{
    const int descriptors = count_descriptors();
    clear();
    if (stale)
        fclose(fopen(path, "w"));
    steps = 0;
    struct new_file file;
    const int error = jd_new_file_open(path, NEW_FILE_NO_RIVAL, SIGXFSZ, &file);
    const bool was_planted = steps >= plant_at;
    plant_at = 0;
    if (error == 0) {
        assert_true(is_ours(file.fd));
        jd_new_file_close(&file);
    } else {
        assert_true(was_planted);
        planted_assert_untouched(&planted, path);
    }
    if (was_planted)
        planted_assert_target_untouched(&planted);
    assert_int_equal(count_descriptors(), descriptors);
}

static void planted_between_any_two_steps(void **state)
{
    (void)state;
    snprintf(path, sizeof(path), "%s/jit-1.dump", directory);
    int planted_times = 0;
    for (int stale = 0; stale < 2; stale++)
        for (kind = 0; kind < PLANTED_KINDS; kind++) {
            int at = 0;
            do {
                if (!planted_possible(kind))
                    break;
                plant_at = ++at;
                plant_between_steps(stale);
                planted_times++;
            } while (steps >= at);
        }
    clear();
    print_message("planted %d times\n", planted_times);
    assert_true(planted_times > 2 * 2 * PLANTED_DEVICE);
}

/* Another process exchanges what is at the path with what must not be touched, again and again. */
static pid_t start_exchanging(const char *other)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child != 0)
        return child;
    for (;;) {
        /* Up to 1.2.5, musl has no function for it. */
        (void)!syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE);
        (void)!symlink("precious", other);
    }
}

static void exchanged_all_the_time(void **state)
{
    (void)state;
    char other[PATH_MAX];
    snprintf(other, sizeof(other), "%s/other", directory);
    set_path(&files[0]);
    planted = planted_make(PLANTED_LINK_TO_FILE, directory, other);
    const int descriptors = count_descriptors();
    const pid_t attacker = start_exchanging(other);
    int opened = 0, refused = 0;
    while (opened + refused < 4000 || refused == 0) {
        struct jitdump *dump;
        const int error = make_dump(&dump);
        if (error == 0) {
            const struct jitdump_code code = {
                .struct_size = sizeof(code), .name = "f", .code_addr = 1};
            assert_int_equal(jitdump_load(dump, &code, NULL), 0);
            assert_int_equal(jitdump_close(dump), 0);
            opened++;
        } else {
            /* Of the dumps that come back one may be another than the last. */
            assert_true(error == JITDUMP_ERROR_FILE_FOREIGN || error == JITDUMP_ERROR_FILE_IN_USE);
            refused++;
        }
    }
    kill(attacker, SIGKILL);
    assert_int_equal(waitpid(attacker, NULL, 0), attacker);
    assert_int_equal(count_descriptors(), descriptors);
    print_message("%d opens, %d refused\n", opened, refused);
    char precious[PATH_MAX];
    snprintf(precious, sizeof(precious), "%s/precious", directory);
    struct contents contents = read_file(precious);
    assert_int_equal(contents.size, planted.precious.st_size);
    assert_memory_equal(contents.bytes, "precious", contents.size);
    free(contents.bytes);
}

/* Processes of the same pid, in several pid namespaces, want the same name. */
static void only_one_has_the_name(void **state)
{
    (void)state;
    enum { PROCESSES = 3, OPENS = 3000 };
    snprintf(path, sizeof(path), "%s/jit-1.dump", directory);
    _Atomic int *holders = mmap(NULL, sizeof(*holders), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(holders, MAP_FAILED);
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] != 0)
            continue;
        yielding = true;
        for (int opens = 0; opens < OPENS; opens++) {
            struct new_file file;
            if (jd_new_file_open(path, NEW_FILE_NO_RIVAL, SIGXFSZ, &file) != 0)
                continue;
            /* Nobody removes it or makes another one. */
            const int others = atomic_fetch_add(holders, 1);
            sched_yield();
            if (others != 0 || !is_ours(file.fd))
                _exit(1);
            atomic_fetch_sub(holders, 1);
            jd_new_file_close(&file);
        }
        _exit(0);
    }
    for (int i = 0; i < PROCESSES; i++)
        assert_child_succeeds(children[i]);
    munmap((void *)holders, sizeof(*holders));
}

static off_t read_size(const char *name)
{
    struct stat status;
    return stat(name, &status) == 0 ? status.st_size : -1;
}

/* In a child of that user. With `of_another`, there is a file of its dump's name before. */
static void run_as(uid_t user, bool of_another, int expected)
{
    int go[2];
    assert_int_equal(pipe(go), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct jitdump *dump;
        char byte;
        if (read(go[0], &byte, 1) != 1 || setgid(user) != 0 || setuid(user) != 0)
            _exit(250);
        int error = make_dump(&dump);
        if (error == 0 && jitdump_close(dump) == 0) {
            error = make_dump(&dump); /* over its own stale one */
            jitdump_close(dump);
        }
        _exit(-error);
    }
    if (of_another) {
        FILE *file = fopen(dump_path(directory, child), "wx");
        assert_non_null(file);
        assert_int_equal(fchown(fileno(file), 12345, 12345), 0);
        assert_int_equal(fchmod(fileno(file), 0666), 0);
        fclose(file);
    }
    assert_int_equal(write(go[1], "", 1), 1);
    close(go[0]);
    close(go[1]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(-WEXITSTATUS(status), expected);
    assert_int_equal(read_size(dump_path(directory, child)), of_another ? 0 : CLOSED_DUMP_SIZE);
}

static void in_a_directory_that_is_everybodys(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can become two users\n");
        skip();
    }
    assert_int_equal(chmod(directory, 01777), 0);
    static const uid_t users[] = {12346, 0};
    for (int i = 0; i < 2; i++) {
        run_as(users[i], false, 0);
        run_as(users[i], true, JITDUMP_ERROR_FILE_FOREIGN);
    }
}

static int tear_down(void **state)
{
    set_path(&files[1]);
    clear();
    return remove_temporary_directory(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(foreign_things_stay_as_they_are),
        TEST(a_hard_link_is_removed_and_its_file_stays),
        TEST(planted_between_any_two_steps),
        TEST(exchanged_all_the_time),
        TEST(only_one_has_the_name),
        TEST(in_a_directory_that_is_everybodys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
