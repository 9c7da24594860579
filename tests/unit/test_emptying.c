/* JITDUMP_EMPTY_AT_CLOSE: what is left in the dump's place, what readers of it see, what is in the way,
 * and what others have put there. */
#define _GNU_SOURCE
#include "child.h"

#include "emitter/handle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Faults. Writes of a header's size, and no others, fail, after `header_bytes` of the header. */
static int write_errno, rename_errno, ftruncate_errno;
static size_t header_bytes;

enum { HEADER = sizeof(struct jitdump_file_header), SIZE = 300 };

ssize_t __real_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count)
{
    if (write_errno == 0 || bytes[0].iov_len > HEADER)
        return __real_writev(fd, bytes, count);
    if (header_bytes == 0) {
        errno = write_errno;
        return -1;
    }
    const size_t size = header_bytes;
    header_bytes = 0;
    return write(fd, bytes[0].iov_base, size);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
    if (rename_errno == 0)
        return __real_rename(from, to);
    errno = rename_errno;
    return -1;
}

int __real_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size)
{
    if (ftruncate_errno == 0)
        return __real_ftruncate(fd, size);
    errno = ftruncate_errno;
    if (errno == EINTR)
        ftruncate_errno = 0; /* once */
    return -1;
}

static int set_up(void **state)
{
    write_errno = rename_errno = ftruncate_errno = 0;
    return make_temporary_directory(state);
}

static struct jitdump *open_dump(uint32_t flags)
{
    const struct jitdump_options options = {
        .struct_size = sizeof(options), .flags = flags, .directory = directory};
    struct jitdump *dump;
    assert_int_equal(jitdump_open(&dump, &options), 0);
    return dump;
}

/* With a function of SIZE bytes in it. */
static struct jitdump *open_with_function(uint32_t flags)
{
    static const char code_bytes[SIZE];
    const struct jitdump_code code = {.struct_size = sizeof(code), .name = "f", .code_addr = 0x1000,
                                      .code_size = SIZE, .code_bytes = code_bytes};
    struct jitdump *dump = open_dump(flags);
    assert_int_equal(jitdump_load(dump, &code, NULL), 0);
    return dump;
}

static size_t size_of(const char *path)
{
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    assert_int_equal(status.st_mode, S_IFREG | 0600);
    return (size_t)status.st_size;
}

static void nothing_but_a_header_is_left(void **state)
{
    (void)state;
    const int descriptors = count_descriptors();
    struct jitdump *dump = open_with_function(JITDUMP_EMPTY_AT_CLOSE | JITDUMP_SOURCE_FILES |
                                              JITDUMP_PERF_MAP);
    assert_int_equal(jitdump_embed_source(dump, "a", "text", 4), 0);
    assert_int_equal(count_entries(directory), 2);
    const char *path = dump_path(directory, getpid());
    struct contents before = read_file(path);
    assert_true(before.size > SIZE);
    const mode_t mask = umask(0777);
    assert_int_equal(jitdump_close(dump), 0);
    umask(mask);

    assert_int_equal(size_of(path), HEADER);
    assert_int_equal(count_entries(directory), 1);
    assert_int_equal(access(perf_map_path(getpid()), F_OK), -1);
    assert_int_equal(count_descriptors(), descriptors);
    /* All is as before but the time, by which samply tells the two apart. */
    struct contents after = read_file(path);
    struct jitdump_file_header opened, closed;
    memcpy(&opened, before.bytes, HEADER);
    memcpy(&closed, after.bytes, HEADER);
    assert_true(closed.timestamp > opened.timestamp);
    closed.timestamp = opened.timestamp;
    assert_memory_equal(&closed, &opened, HEADER);
    free(before.bytes);
    free(after.bytes);

    /* It is as stale as any dump that is closed. */
    assert_int_equal(jitdump_close(open_with_function(0)), 0);
    assert_true(size_of(path) > SIZE);
}

static void who_has_it_open_reads_it_to_its_end(void **state)
{
    (void)state;
    struct jitdump *dump = open_with_function(JITDUMP_EMPTY_AT_CLOSE);
    const int reader = open(jitdump_path(dump), O_RDONLY);
    char bytes[1024];
    const ssize_t before = read(reader, bytes, sizeof(bytes));
    assert_true(before > SIZE);
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(read(reader, bytes, sizeof(bytes)), sizeof(struct jit_code_close));
    assert_memory_equal(bytes, "\3\0\0\0\x10\0\0\0", 8);
    close(reader);
}

static void unlinking_and_emptying_contradict_each_other(void **state)
{
    (void)state;
    const struct jitdump_options options = {
        .struct_size = sizeof(options), .directory = directory,
        .flags = JITDUMP_UNLINK_AT_CLOSE | JITDUMP_EMPTY_AT_CLOSE};
    struct jitdump *dump;
    assert_int_equal(jitdump_open(&dump, &options), JITDUMP_ERROR_OPTION);
}

static void each_process_empties_its_own(void **state)
{
    (void)state;
    struct jitdump *dump = open_with_function(JITDUMP_EMPTY_AT_CLOSE);
    const char *path = dump_path(directory, getpid());
    const size_t size = size_of(path);
    pid_t child = fork();
    if (child == 0)
        _exit(jitdump_close(dump) == 0 ? 0 : 1); /* it has none */
    assert_child_succeeds(child);
    assert_int_equal(count_entries(directory), 1);
    assert_int_equal(size_of(path), size);

    child = fork();
    if (child == 0) {
        CHECK(jitdump_move(dump, 1, 0x1000, 0x2000, 1) == 0);
        CHECK(jitdump_close(dump) == 0);
        _exit(0);
    }
    assert_child_succeeds(child);
    assert_int_equal(size_of(dump_path(directory, child)), HEADER);
    assert_int_equal(size_of(dump_path(directory, getpid())), size);
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(size_of(dump_path(directory, getpid())), HEADER);
}

static void what_others_have_put_there_is_spared(void **state)
{
    (void)state;
    char moved[PATH_MAX];
    snprintf(moved, sizeof(moved), "%s/moved", directory);
    const char *path = dump_path(directory, getpid());
    struct jitdump *dump = open_with_function(JITDUMP_EMPTY_AT_CLOSE);
    assert_int_equal(rename(path, moved), 0);
    FILE *theirs = fopen(path, "w");
    fprintf(theirs, "%*s", SIZE, "theirs");
    fclose(theirs);
    assert_int_equal(jitdump_close(dump), 0);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, SIZE);
    assert_true(size_of(moved) > SIZE); /* kept by who has moved it */
    assert_int_equal(count_entries(directory), 2);
    make_old(path); /* else it is in the way of the next */

    dump = open_with_function(JITDUMP_EMPTY_AT_CLOSE);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(count_entries(directory), 1);
}

/* After closefrom(3), say, the descriptor's number may be the program's own file. */
static void a_file_of_the_program_is_spared(void **state)
{
    (void)state;
    char own[PATH_MAX];
    snprintf(own, sizeof(own), "%s/own", directory);
    const int fd = open(own, O_RDWR | O_CREAT, 0600);
    struct dump_file file;
    const struct jitdump_file_header header = {.magic = JITDUMP_MAGIC, .pid = 7};
    assert_int_equal(jd_dump_file_create(&file, directory, SIGXFSZ, &header), 0);
    assert_int_equal(ftruncate(fd, SIZE), 0);
    assert_int_equal(dup2(fd, file.on_disk.fd), file.on_disk.fd);
    rename_errno = EACCES; /* which would have it cut back */
    assert_int_equal(jd_dump_file_empty(&file, &header), JITDUMP_ERROR_IO);
    assert_int_equal(size_of(own), SIZE);
    rename_errno = 0;
    assert_int_equal(jd_dump_file_empty(&file, &header), 0);
    assert_int_equal(size_of(own), SIZE);
    const int number = file.on_disk.fd;
    assert_int_equal(jd_dump_file_close(&file, false), 0);
    assert_int_equal(close(number), 0); /* it was not ours to close */
    close(fd);
}

/* Then it has the time of its opening. */
static void where_no_file_can_be_made_the_dump_is_cut_back(void **state)
{
    (void)state;
    enum { WRITE, SHORT_WRITE, IN_THE_WAY, RENAME, WAYS };
    char new_path[PATH_MAX];
    snprintf(new_path, sizeof(new_path), "%s.new", dump_path(directory, getpid()));
    for (int way = 0; way < WAYS; way++) {
        struct jitdump *dump = open_with_function(JITDUMP_EMPTY_AT_CLOSE);
        const char *path = dump_path(directory, getpid());
        struct contents before = read_file(path);
        assert_int_equal(jitdump_flush(dump), 0);
        /* A CLOSE would meet it too. */
        write_errno = way == WRITE || way == SHORT_WRITE ? ENOSPC : 0;
        header_bytes = way == SHORT_WRITE ? 10 : 0;
        rename_errno = way == RENAME ? EACCES : 0;
        if (way == IN_THE_WAY)
            assert_int_equal(symlink("/nowhere/at/all", new_path), 0);
        ftruncate_errno = EINTR;
        assert_int_equal(jitdump_close(dump), write_errno != 0 ? JITDUMP_ERROR_DISK_FULL : 0);
        assert_int_equal(ftruncate_errno, 0);
        write_errno = rename_errno = 0;

        struct contents after = read_file(path);
        assert_int_equal(after.size, HEADER);
        assert_memory_equal(after.bytes, before.bytes, HEADER);
        free(before.bytes);
        free(after.bytes);
        if (way == IN_THE_WAY)
            assert_int_equal(unlink(new_path), 0);
        assert_int_equal(count_entries(directory), 1);
    }
}

static void a_dump_that_cannot_be_emptied_is_an_error(void **state)
{
    (void)state;
    struct jitdump *dump = open_with_function(JITDUMP_EMPTY_AT_CLOSE);
    rename_errno = EACCES;
    ftruncate_errno = EIO;
    assert_int_equal(jitdump_close(dump), JITDUMP_ERROR_IO);
    assert_true(size_of(dump_path(directory, getpid())) > SIZE);
    assert_int_equal(count_entries(directory), 1);
}

static void a_dump_cut_by_someone_else_is_not_lengthened(void **state)
{
    (void)state;
    struct jitdump *dump = open_with_function(JITDUMP_EMPTY_AT_CLOSE);
    assert_int_equal(truncate(jitdump_path(dump), 10), 0);
    rename_errno = EACCES;
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(size_of(dump_path(directory, getpid())), 10 + sizeof(struct jit_code_close));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, remove_temporary_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_but_a_header_is_left),
        TEST(who_has_it_open_reads_it_to_its_end),
        TEST(unlinking_and_emptying_contradict_each_other),
        TEST(each_process_empties_its_own),
        TEST(what_others_have_put_there_is_spared),
        TEST(a_file_of_the_program_is_spared),
        TEST(where_no_file_can_be_made_the_dump_is_cut_back),
        TEST(a_dump_that_cannot_be_emptied_is_an_error),
        TEST(a_dump_cut_by_someone_else_is_not_lengthened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
