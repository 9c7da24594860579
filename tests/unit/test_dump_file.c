/* The file on disk, when it is created, and when it goes: what is in the way. */
#define _GNU_SOURCE
#include "dump_file_case.h"

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
        TEST(unlinking_spares_what_others_have_put_there),
        TEST(an_abandoned_file_keeps_its_marker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
