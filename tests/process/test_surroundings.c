/* What a process does to itself while it has a dump: its descriptors, its directory, its user; and
 * what thousands of dumps leave behind in it. */
#define _GNU_SOURCE
#include "life.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define NOBODY 12345

static void print_everywhere(void)
{
    (void)!write(STDIN_FILENO, "noise", 5);
    (void)!write(STDOUT_FILENO, "noise", 5);
    (void)!write(STDERR_FILENO, "noise", 5);
}

static void output_does_not_get_into_the_files(void **state)
{
    (void)state;
    for (int closed = 1; closed < 8; closed++) { /* each set of the three */
        const pid_t child = fork();
        if (child == 0) {
            const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
            for (int fd = 0; fd < 3; fd++)
                if ((closed >> fd & 1) != 0)
                    close(fd);
                else
                    dup2(null, fd);
            struct jitdump *dump =
                life_open(JITDUMP_FLUSH_WRITE_THROUGH, JITDUMP_PERF_MAP | JITDUMP_SOURCE_FILES);
            CHECK(dump != NULL);
            CHECK(jitdump_embed_source(dump, "a.js", "text", 4) == 0);
            for (int fd = 0; fd < 3; fd++)
                CHECK((fcntl(fd, F_GETFD) == -1) == (closed >> fd & 1));
            print_everywhere();
            CHECK(life_load(dump, "first") == 0);
            const pid_t grandchild = fork();
            if (grandchild == 0) {
                CHECK(life_load(dump, "of the child") == 0);
                print_everywhere();
                CHECK(jitdump_close(dump) == 0);
                _exit(count_loads(getpid(), "of the child") != 1);
            }
            int status;
            CHECK(waitpid(grandchild, &status, 0) == grandchild && status == 0);
            unlink(perf_map_path(grandchild));
            print_everywhere();
            CHECK(jitdump_close(dump) == 0);
            _exit(0);
        }
        assert_child_succeeds(child);
        assert_int_equal(count_loads(child, "first"), 1);
        assert_true(is_closed(child));
        unlink(perf_map_path(child));
    }
}

/* No descriptor is left but those of the standard streams. */
static void without_another_descriptor_there_is_no_dump(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit limit = {3, 3};
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        close(STDIN_FILENO);
        struct jitdump *dump;
        const struct jitdump_options options = {.struct_size = sizeof(options),
                                                .directory = directory};
        CHECK(jitdump_open(&dump, &options) == JITDUMP_ERROR_TOO_MANY_FILES);
        CHECK(fcntl(STDIN_FILENO, F_GETFD) == -1);
        _exit(0);
    }
    assert_child_succeeds(child);
    assert_int_equal(count_loads(child, "first"), -1);
}

/* closefrom(3), and files of the program's own under the numbers that this has freed. */

#define OWN_FILES 20
#define OWN "the program's own"

static int own_files[OWN_FILES];

static void close_all_and_open_own(void)
{
    for (int fd = 3; fd < 200; fd++)
        close(fd);
    for (int i = 0; i < OWN_FILES; i++) {
        char name[PATH_MAX];
        snprintf(name, sizeof(name), "%s/own-%d", directory, i);
        own_files[i] = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        CHECK(own_files[i] >= 0 && write(own_files[i], OWN, sizeof(OWN)) == sizeof(OWN));
    }
}

static void check_own(void)
{
    for (int i = 0; i < OWN_FILES; i++) {
        char contents[2 * sizeof(OWN)];
        CHECK(pread(own_files[i], contents, sizeof(contents), 0) == sizeof(OWN));
        CHECK(memcmp(contents, OWN, sizeof(OWN)) == 0);
    }
}

#define ALL_FILES (JITDUMP_PERF_MAP | JITDUMP_SOURCE_FILES)

static void a_child_that_closes_all_descriptors_goes_on(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        struct jitdump *dump = life_open(modes[mode], ALL_FILES);
        assert_non_null(dump);
        assert_int_equal(life_load(dump, "of the parent"), 0);
        rest_before_fork();
        const pid_t child = fork();
        if (child == 0) {
            close_all_and_open_own();
            CHECK(life_load(dump, "of the child") == 0);
            CHECK(jitdump_flush(dump) == 0);
            check_own();
            CHECK(jitdump_close(dump) == 0);
            check_own();
            _exit(0);
        }
        assert_child_succeeds(child);
        assert_int_equal(count_loads(child, "of the child"), 1);
        struct contents map = read_file(perf_map_path(child));
        map.bytes[map.size] = '\0';
        assert_string_equal((char *)map.bytes, "1000 4 of the parent\n1000 4 of the child\n");
        free(map.bytes);
        unlink(perf_map_path(child));
        rest_before_fork();
        const pid_t idle = fork();
        if (idle == 0) {
            close_all_and_open_own();
            CHECK(jitdump_close(dump) == 0);
            check_own();
            _exit(0);
        }
        assert_child_succeeds(idle);
        assert_int_equal(jitdump_close(dump), 0);
        assert_int_equal(count_loads(getpid(), "of the parent"), 1);
    }
    unlink(perf_map_path(getpid()));
}

/* The process itself, after which the dump can't go on. */
static void closing_all_descriptors_ends_the_dump(void **state)
{
    (void)state;
    static const uint32_t at_close[] = {0, JITDUMP_UNLINK_AT_CLOSE, JITDUMP_EMPTY_AT_CLOSE};
    for (int run = 0; run < 3 * MODES; run++) {
        const pid_t child = fork();
        if (child == 0) {
            struct jitdump *dump = life_open(modes[run % MODES], ALL_FILES | at_close[run / MODES]);
            CHECK(dump != NULL && life_load(dump, "before") == 0 && jitdump_flush(dump) == 0);
            close_all_and_open_own();
            const int error = life_load(dump, "after");
            CHECK(error == (run % MODES == 0 ? JITDUMP_ERROR_IO : 0));
            CHECK(jitdump_flush(dump) == JITDUMP_ERROR_IO);
            CHECK(life_load(dump, "after") == JITDUMP_ERROR_IO);
            check_own();
            CHECK(jitdump_close(dump) == JITDUMP_ERROR_IO);
            check_own();
            _exit(0);
        }
        assert_child_succeeds(child);
        const bool kept = at_close[run / MODES] != JITDUMP_UNLINK_AT_CLOSE;
        assert_int_equal(access(dump_path(directory, child), F_OK), kept ? 0 : -1);
        if (at_close[run / MODES] == 0)
            assert_int_equal(count_loads(child, "before"), 1);
        assert_int_equal(access(perf_map_path(child), F_OK), at_close[run / MODES] == 0 ? 0 : -1);
        unlink(perf_map_path(child));
    }
}

static int with_sticky_error(struct jitdump *dump, int expected)
{
    const pid_t child = fork();
    if (child == 0) {
        CHECK(life_load(dump, "child") == expected);
        CHECK(life_load(dump, "child") == expected);
        _exit(jitdump_close(dump) != expected);
    }
    int status;
    return waitpid(child, &status, 0) == child ? status : -1;
}

static void after_chdir_all_is_as_before(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        CHECK(chdir(directory) == 0);
        directory = ".";
        struct jitdump *dump = life_open(JITDUMP_FLUSH_BUFFERED, JITDUMP_UNLINK_AT_CLOSE);
        CHECK(dump != NULL && chdir("/") == 0);
        CHECK(life_load(dump, "after") == 0);
        CHECK(access(jitdump_path(dump), F_OK) == 0);
        CHECK(with_sticky_error(dump, 0) == 0); /* a child finds the directory too */
        CHECK(jitdump_close(dump) == 0);
        _exit(0);
    }
    assert_child_succeeds(child);
    assert_int_equal(count_loads(child, "after"), -1); /* it was removed */
}

static bool is_root(void)
{
    if (geteuid() != 0)
        print_message("skipped: only root can\n");
    return geteuid() == 0;
}

/* The file goes on; what needs the path finds nothing, and says so. */
static void after_chroot_the_dump_goes_on(void **state)
{
    (void)state;
    if (!is_root())
        skip();
    char empty[PATH_MAX];
    snprintf(empty, sizeof(empty), "%s/empty", directory);
    assert_int_equal(mkdir(empty, 0700), 0);
    const pid_t child = fork();
    if (child == 0) {
        struct jitdump *dump = life_open(JITDUMP_FLUSH_BUFFERED, JITDUMP_UNLINK_AT_CLOSE);
        CHECK(dump != NULL && chroot(empty) == 0 && chdir("/") == 0);
        CHECK(life_load(dump, "after") == 0);
        CHECK(with_sticky_error(dump, JITDUMP_ERROR_DIRECTORY_MISSING) == 0);
        CHECK(jitdump_close(dump) == 0);
        _exit(0);
    }
    assert_child_succeeds(child);
    assert_int_equal(count_loads(child, "after"), 1);
    assert_true(is_closed(child));
}

static void after_setuid_the_dump_goes_on(void **state)
{
    (void)state;
    if (!is_root())
        skip();
    const pid_t child = fork();
    if (child == 0) {
        struct jitdump *dump = life_open(JITDUMP_FLUSH_BUFFERED, JITDUMP_UNLINK_AT_CLOSE);
        CHECK(dump != NULL && setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
        CHECK(life_load(dump, "after") == 0);
        CHECK(with_sticky_error(dump, JITDUMP_ERROR_DIRECTORY_NOT_WRITABLE) == 0);
        CHECK(jitdump_close(dump) == 0);
        _exit(0);
    }
    assert_child_succeeds(child);
    assert_int_equal(count_loads(child, "after"), 1);
    struct stat status;
    assert_int_equal(stat(dump_path(directory, child), &status), 0);
    assert_int_equal(status.st_uid, 0);
}

/* No file can be made in the directory; the dump itself is cut back. */
static void after_setuid_a_dump_can_be_emptied(void **state)
{
    (void)state;
    if (!is_root())
        skip();
    assert_int_equal(chmod(directory, 0755), 0);
    const pid_t child = fork();
    if (child == 0) {
        struct jitdump *dump = life_open(JITDUMP_FLUSH_BUFFERED, JITDUMP_EMPTY_AT_CLOSE);
        CHECK(dump != NULL && setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
        CHECK(life_load(dump, "after") == 0);
        CHECK(jitdump_close(dump) == 0);
        _exit(0);
    }
    assert_child_succeeds(child);
    struct stat status;
    assert_int_equal(stat(dump_path(directory, child), &status), 0);
    assert_int_equal(status.st_size, 40);
}

static size_t allocated(void)
{
#if defined(__GLIBC__) && !SANITIZED
#if __GLIBC_PREREQ(2, 33)
    return mallinfo2().uordblks;
#endif
#endif
    return 0; /* not to be known */
}

#define OPENS 1000

/* Fails where it must; appends, and closes, where it does not. */
static void live_once(int i)
{
    const uint32_t flags = (uint32_t)(i & JITDUMP_UNLINK_AT_CLOSE) |
                           (i % 5 == 0 ? JITDUMP_PERF_MAP : 0) |
                           (i % 7 == 0 ? JITDUMP_SOURCE_FILES : 0);
    struct jitdump *dump = life_open((uint32_t)i % MODES, flags);
    assert_non_null(dump);
    assert_null(life_open((uint32_t)i % MODES, flags)); /* in use */
    uint32_t tier;
    assert_int_equal(jitdump_add_tier(dump, "tier", 0, "tier: ", &tier), 0);
    assert_int_equal(jitdump_embed_source(dump, "file", "text", 4), 0);
    for (int j = 0; j < i % 20; j++)
        assert_int_equal(life_load(dump, "f"), 0);
    assert_int_equal(jitdump_close(dump), 0);
}

static void opened_and_closed_all_the_time(void **state)
{
    (void)state;
    int descriptors = 0;
    uint64_t mapped = 0;
    size_t bytes = 0;
    for (int i = 0; i < OPENS; i++) {
        live_once(i);
        /* The C library keeps a thread's stack for the next one, and some memory. */
        if (i == 100) {
            descriptors = count_descriptors();
            mapped = mapped_bytes();
            bytes = allocated();
        }
    }
    print_message("%d descriptors, %llu bytes mapped, %zu allocated; before: %d, %llu, %zu\n",
                  count_descriptors(), (unsigned long long)mapped_bytes(), allocated(), descriptors,
                  (unsigned long long)mapped, bytes);
    assert_int_equal(count_descriptors(), descriptors);
    wait_for_flushers(0);
    /* A dump takes some 280 KiB; sanitizers keep what was freed for a while. */
    assert_in_range(mapped_bytes(), 0, mapped + (SANITIZED ? OPENS * 80 : 280) * 1024);
    assert_in_range(allocated(), 0, bytes + 4096);
    unlink(perf_map_path(getpid()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(output_does_not_get_into_the_files),
        unit_test_in_directory(without_another_descriptor_there_is_no_dump),
        unit_test_in_directory(a_child_that_closes_all_descriptors_goes_on),
        unit_test_in_directory(closing_all_descriptors_ends_the_dump),
        unit_test_in_directory(after_chdir_all_is_as_before),
        unit_test_in_directory(after_chroot_the_dump_goes_on),
        unit_test_in_directory(after_setuid_the_dump_goes_on),
        unit_test_in_directory(after_setuid_a_dump_can_be_emptied),
        unit_test_in_directory(opened_and_closed_all_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
