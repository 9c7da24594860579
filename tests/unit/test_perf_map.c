/* The perf map: its lines, and what it is never written over. */
#define _GNU_SOURCE
#include "child.h"

#include "jitdump.h"
#include "system/perf_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Writes to the map take no more than so many bytes, and then fail. */
static int write_errno;
static size_t write_limit;
static int malloc_fails;
/* Called once, after a write to the map. */
static void (*after_write)(void);

static bool is_map(int fd)
{
    struct stat map, there;
    return fstat(fd, &there) == 0 && stat(perf_map_path(getpid()), &map) == 0 &&
           map.st_ino == there.st_ino && map.st_dev == there.st_dev;
}

ssize_t __real_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count)
{
    if (!is_map(fd))
        return __real_writev(fd, bytes, count);
    if (write_errno == 0) {
        const ssize_t result = __real_writev(fd, bytes, count);
        void (*const call)(void) = after_write;
        after_write = NULL;
        if (call != NULL)
            call();
        return result;
    }
    if (write_limit != 0) {
        const size_t size = write_limit;
        write_limit = 0;
        return write(fd, bytes[0].iov_base, size);
    }
    errno = write_errno;
    return -1;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return malloc_fails ? NULL : __real_malloc(size);
}

static int set_up(void **state)
{
    write_errno = malloc_fails = 0;
    after_write = NULL;
    unlink(perf_map_path(getpid()));
    return make_temporary_directory(state);
}

static int tear_down(void **state)
{
    unlink(perf_map_path(getpid()));
    return remove_temporary_directory(state);
}

static int open_dump(struct jitdump **dump, uint32_t flags)
{
    const struct jitdump_options options = {
        .struct_size = sizeof(options), .flags = flags, .directory = directory};
    return jitdump_open(dump, &options);
}

static struct jitdump *open_with_map(void)
{
    struct jitdump *dump;
    assert_int_equal(open_dump(&dump, JITDUMP_PERF_MAP), 0);
    return dump;
}

static uint64_t load(struct jitdump *dump, uint64_t code_addr, const char *name, uint32_t tier)
{
    uint64_t index;
    const struct jitdump_code code = {.struct_size = sizeof(code),
                                      .tier = tier,
                                      .name = name,
                                      .code_addr = code_addr,
                                      .code_size = 0x1a,
                                      .code_bytes = "abcdefghijklmnopqrstuvwxyz"};
    assert_int_equal(jitdump_load(dump, &code, &index), 0);
    return index;
}

static void assert_map(pid_t pid, const char *expected)
{
    struct contents contents = read_file(perf_map_path(pid));
    contents.bytes[contents.size] = '\0';
    assert_string_equal((char *)contents.bytes, expected);
    free(contents.bytes);
}

static void a_line_for_each_load_and_move(void **state)
{
    (void)state;
    struct jitdump *dump = open_with_map();
    uint32_t tier;
    assert_int_equal(jitdump_add_tier(dump, "Ion", 0, "Ion: ", &tier), 0);
    const uint64_t first = load(dump, 0x7f0012345678, "f", 0);
    const uint64_t second = load(dump, 0x2000, "a name with spaces", tier);
    assert_int_equal(jitdump_move(dump, second, 0x2000, 0x3000, 0x1a), 0);
    assert_int_equal(jitdump_move(dump, first, 0x7f0012345678, 0x4000, 0x1a), 0);
    /* Of a function that this library does not know, there is no name. */
    assert_int_equal(jitdump_move(dump, 77777777, 0x9000, 0xa000, 0x1a), 0);
    assert_int_equal(jitdump_close(dump), 0);
    assert_map(getpid(), "7f0012345678 1a f\n"
                         "2000 1a Ion: a name with spaces\n"
                         "3000 1a Ion: a name with spaces\n"
                         "4000 1a f\n");
    struct stat status;
    assert_int_equal(stat(perf_map_path(getpid()), &status), 0);
    assert_int_equal(status.st_mode, S_IFREG | 0600);
}

static void names_stay_on_their_line(void **state)
{
    (void)state;
    struct jitdump *dump = open_with_map();
    load(dump, 0x1000, "one\n2000 10 two\r\t\x7f\xc3\xa4", 0);
    char name[3000];
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    load(dump, 0x1000, name, 0);
    assert_int_equal(jitdump_close(dump), 0);
    char expected[2000] = "1000 1a one?2000 10 two???\xc3\xa4\n1000 1a ";
    char *end = expected + strlen(expected);
    memset(end, 'n', 1023 - strlen("1000 1a "));
    strcpy(end + 1023 - strlen("1000 1a "), "\n");
    assert_map(getpid(), expected);
}

/* Too many for an int, in which printf() counts. */
static void names_may_be_longer_than_2_gib(void **state)
{
    (void)state;
    if (sizeof(size_t) < sizeof(uint64_t)) {
        print_message("skipped: a 32-bit process has no room for that\n");
        skip();
    }
    const size_t size = ((size_t)INT_MAX + 1) + REPEATED_SIZE;
    char *name = map_repeated(size);
    memset(name, 'n', REPEATED_SIZE);
    name[size - 1] = '\0';
    struct perf_map map = {.file = NEW_FILE_NONE};
    assert_int_equal(jd_perf_map_open(&map, (uint32_t)getpid(), SIGXFSZ), 0);
    jd_perf_map_load(&map, 1, 0x1000, 0x1a, "", name, size - 1);
    jd_perf_map_move(&map, 1, 0x2000, 0x1a);
    assert_int_equal(jd_perf_map_close(&map, false), 0);
    char expected[2 * 1024 + 1];
    memset(expected, 'n', sizeof(expected));
    memcpy(expected, "1000 1a ", 8);
    memcpy(expected + 1023, "\n2000 1a ", 9);
    strcpy(expected + 2047, "\n");
    assert_map(getpid(), expected);
    munmap(name, size);
}

static void without_the_option_there_is_none(void **state)
{
    (void)state;
    struct jitdump *dump;
    assert_int_equal(open_dump(&dump, 0), 0);
    load(dump, 0x1000, "f", 0);
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(access(perf_map_path(getpid()), F_OK), -1);
}

static void it_goes_with_the_dump_if_that_goes(void **state)
{
    (void)state;
    struct jitdump *dump;
    assert_int_equal(open_dump(&dump, JITDUMP_PERF_MAP | JITDUMP_UNLINK_AT_CLOSE), 0);
    assert_int_equal(access(perf_map_path(getpid()), F_OK), 0);
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(access(perf_map_path(getpid()), F_OK), -1);
}

static void a_stale_map_is_replaced(void **state)
{
    (void)state;
    FILE *stale = fopen(perf_map_path(getpid()), "w");
    assert_non_null(stale);
    fputs("1 1 old\n", stale);
    fclose(stale);
    make_old(perf_map_path(getpid()));
    struct jitdump *dump = open_with_map();
    assert_int_equal(jitdump_close(dump), 0);
    assert_map(getpid(), "");
}

/* As CPython's -X perf writes it, in the same process: it is theirs, too. */
static void another_emitters_map_is_appended_to(void **state)
{
    (void)state;
    static const uint32_t at_close[] = {0, JITDUMP_UNLINK_AT_CLOSE};
    for (int i = 0; i < 2; i++) {
        FILE *another = fopen(perf_map_path(getpid()), "a");
        assert_non_null(another);
        assert_int_equal(chmod(perf_map_path(getpid()), 0640), 0);
        fputs("1000 10 first\n", another);
        fflush(another);
        struct jitdump *dump;
        assert_int_equal(open_dump(&dump, JITDUMP_PERF_MAP | at_close[i]), 0);
        load(dump, 0x2000, "ours", 0);
        const pid_t child = fork();
        if (child == 0) {
            load(dump, 0x3000, "of the child", 0);
            assert_map(getpid(), "2000 1a ours\n3000 1a of the child\n");
            CHECK(jitdump_close(dump) == 0);
            CHECK(access(perf_map_path(getpid()), F_OK) == (at_close[i] != 0 ? -1 : 0));
            unlink(perf_map_path(getpid()));
            _exit(0);
        }
        assert_child_succeeds(child);
        fputs("1010 10 second\n", another);
        fflush(another);
        load(dump, 0x4000, "ours again", 0);
        assert_int_equal(jitdump_close(dump), 0);
        fputs("1020 10 third\n", another);
        fclose(another);
        assert_map(getpid(), "1000 10 first\n2000 1a ours\n1010 10 second\n4000 1a ours again\n"
                             "1020 10 third\n");
        struct stat status;
        assert_int_equal(stat(perf_map_path(getpid()), &status), 0);
        assert_int_equal(status.st_mode & 0777, 0640);
        assert_int_equal(unlink(perf_map_path(getpid())), 0);
    }
}

static void assert_refused(void)
{
    struct jitdump *dump;
    assert_int_equal(open_dump(&dump, JITDUMP_PERF_MAP), JITDUMP_ERROR_PERF_MAP);
    assert_null(dump);
    assert_int_equal(access(dump_path(directory, getpid()), F_OK), -1);
}

static void what_is_in_its_place_is_left_alone(void **state)
{
    (void)state;
    const char *path = perf_map_path(getpid());
    char target[PATH_MAX];
    snprintf(target, sizeof(target), "%s/target", directory);

    assert_int_equal(symlink(target, path), 0);
    assert_refused();
    assert_int_equal(access(target, F_OK), -1);
    assert_int_equal(unlink(path), 0);

    assert_int_equal(mkdir(path, 0700), 0);
    assert_refused();
    assert_int_equal(rmdir(path), 0);

    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused();
    assert_int_equal(unlink(path), 0);

    /* A file of ours that someone has given that name too. */
    fclose(fopen(path, "w"));
    char second_name[PATH_MAX];
    snprintf(second_name, sizeof(second_name), "%s.second", path);
    assert_int_equal(link(path, second_name), 0);
    assert_refused();
    assert_int_equal(unlink(second_name), 0);
    assert_int_equal(unlink(path), 0);

    if (geteuid() == 0) { /* only root can make another user's file */
        fclose(fopen(path, "w"));
        assert_int_equal(chown(path, 12345, 12345), 0);
        assert_refused();
        assert_int_equal(unlink(path), 0);
    }

    /* One that is being written, by this library, in this process. */
    struct jitdump *dump = open_with_map();
    const char *first = directory;
    char second[PATH_MAX];
    snprintf(second, sizeof(second), "%s/second", directory);
    assert_int_equal(mkdir(second, 0700), 0);
    directory = second;
    assert_refused();
    directory = first;
    assert_int_equal(jitdump_close(dump), 0);
}

static void what_can_t_be_written_is_told_at_the_flush(void **state)
{
    (void)state;
    struct jitdump *dump = open_with_map();
    load(dump, 0x1000, "f", 0);
    write_errno = ENOSPC;
    write_limit = 9; /* of a line cut there, perf would make a function of its own */
    load(dump, 0x2000, "g", 0);
    write_errno = 0;
    load(dump, 0x3000, "h", 0);
    assert_int_equal(jitdump_flush(dump), JITDUMP_ERROR_PERF_MAP);
    assert_int_equal(jitdump_close(dump), JITDUMP_ERROR_PERF_MAP);
    /* And it ends there: what comes later may be at g's address. */
    assert_map(getpid(), "1000 1a f\n");
}

static void a_name_that_can_t_be_kept_is_told_too(void **state)
{
    (void)state;
    struct jitdump *dump = open_with_map();
    malloc_fails = 1;
    load(dump, 0x1000, "f", 0);
    malloc_fails = 0;
    assert_int_equal(jitdump_close(dump), JITDUMP_ERROR_PERF_MAP);
}

/* The child's map begins as its parent's was at the fork, and each goes on alone. */
static void a_child_has_a_map_of_its_own(void **state)
{
    (void)state;
    struct jitdump *dump = open_with_map();
    const uint64_t index = load(dump, 0x1000, "of the parent", 0);
    int go[2];
    assert_int_equal(pipe(go), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char byte;
        if (read(go[0], &byte, 1) != 1)
            _exit(1);
        load(dump, 0x2000, "of the child", 0);
        if (jitdump_move(dump, index, 0x1000, 0x3000, 0x1a) != 0)
            _exit(1);
        _exit(jitdump_close(dump) != 0);
    }
    load(dump, 0x2000, "after the fork", 0);
    assert_int_equal(write(go[1], "", 1), 1);
    assert_child_succeeds(child);
    close(go[0]);
    close(go[1]);
    assert_map(child, "1000 1a of the parent\n2000 1a of the child\n3000 1a of the parent\n");
    unlink(perf_map_path(child));
    assert_int_equal(jitdump_close(dump), 0);
    assert_map(getpid(), "1000 1a of the parent\n2000 1a after the fork\n");
}

/* A child that loads nothing has none, and leaves its parent's alone. */
static void a_child_that_closes_at_once_leaves_all_as_it_was(void **state)
{
    (void)state;
    struct jitdump *dump;
    assert_int_equal(open_dump(&dump, JITDUMP_PERF_MAP | JITDUMP_UNLINK_AT_CLOSE), 0);
    load(dump, 0x1000, "f", 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(jitdump_close(dump) != 0);
    assert_child_succeeds(child);
    assert_int_equal(access(perf_map_path(child), F_OK), -1);
    assert_map(getpid(), "1000 1a f\n");
    assert_int_equal(jitdump_close(dump), 0);
}

/* In the order of their text: that of a child's first lines is any. */
static void assert_lines(pid_t pid, const char *expected)
{
    char command[100], line[100], sorted[1000] = "";
    snprintf(command, sizeof(command), "LC_ALL=C sort %s", perf_map_path(pid));
    FILE *sort = popen(command, "r");
    assert_non_null(sort);
    while (fgets(line, sizeof(line), sort) != NULL)
        strcat(sorted, line);
    pclose(sort);
    assert_string_equal(sorted, expected);
}

static struct jitdump *forked_dump;

/* In the midst of a load, as by another thread. */
static void fork_after_a_shorter_line(void)
{
    load(forked_dump, 0x2000, "b", 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child != 0) {
        assert_child_succeeds(child);
        return;
    }
    load(forked_dump, 0x3000, "of the child", 0);
    const pid_t grandchild = fork();
    if (grandchild == 0) {
        load(forked_dump, 0x4000, "of the grandchild", 0);
        _exit(jitdump_close(forked_dump) != 0);
    }
    int status;
    CHECK(waitpid(grandchild, &status, 0) == grandchild && status == 0);
    assert_lines(grandchild, "1000 1a a longer name\n2000 1a b\n3000 1a of the child\n"
                             "4000 1a of the grandchild\n");
    unlink(perf_map_path(grandchild));
    assert_lines(getpid(), "1000 1a a longer name\n2000 1a b\n3000 1a of the child\n");
    unlink(perf_map_path(getpid()));
    _exit(jitdump_close(forked_dump) != 0);
}

static void a_child_of_a_child_has_what_its_parent_has(void **state)
{
    (void)state;
    forked_dump = open_with_map();
    after_write = fork_after_a_shorter_line;
    load(forked_dump, 0x1000, "a longer name", 0);
    assert_int_equal(jitdump_close(forked_dump), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_line_for_each_load_and_move),
        TEST(names_stay_on_their_line),
        TEST(names_may_be_longer_than_2_gib),
        TEST(without_the_option_there_is_none),
        TEST(it_goes_with_the_dump_if_that_goes),
        TEST(a_stale_map_is_replaced),
        TEST(another_emitters_map_is_appended_to),
        TEST(what_is_in_its_place_is_left_alone),
        TEST(what_can_t_be_written_is_told_at_the_flush),
        TEST(a_name_that_can_t_be_kept_is_told_too),
        TEST(a_child_has_a_map_of_its_own),
        TEST(a_child_of_a_child_has_what_its_parent_has),
        TEST(a_child_that_closes_at_once_leaves_all_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
