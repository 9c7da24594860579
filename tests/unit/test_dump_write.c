/* Writing to the file on disk: what goes wrong, and what is left then. */
#define _GNU_SOURCE
#include "dump_file_case.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(short_and_interrupted_writes_are_continued),
        TEST(a_file_may_pass_2_gib),
        TEST(a_failed_write_cuts_back_to_the_last_whole_record),
        TEST(a_function_is_kept_whole_or_not_at_all),
        TEST(a_write_that_takes_nothing_is_an_error),
        TEST(the_resource_limit_is_kept_without_a_signal),
        TEST(a_file_cut_by_someone_else_is_not_lengthened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
