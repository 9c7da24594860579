/* Fork, exit, signals, cancellation. Each child reports through its exit status: 0, or the
 * line of the check that failed. */
#define _GNU_SOURCE
#include "child.h"

#include "emitter/handle.h"
#include "system/thread_id.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct jitdump *open_mode(uint32_t flush_mode)
{
    const struct jitdump_options options = {.struct_size = sizeof(options),
                                            .flush_mode = flush_mode,
                                            .flush_interval_ns = UINT64_C(3600000000000),
                                            .directory = directory};
    struct jitdump *dump;
    assert_int_equal(jitdump_open(&dump, &options), 0);
    return dump;
}

static int load(struct jitdump *dump, const char *name)
{
    const struct jitdump_code code = {.struct_size = sizeof(code),
                                      .name = name,
                                      .code_addr = 0x1000,
                                      .code_size = 4,
                                      .code_bytes = "code"};
    return jitdump_load(dump, &code, NULL);
}

/* How often `name`, as the whole name of a function, is in the file. */
static int count_loads(const char *path, const char *name)
{
    if (access(path, F_OK) != 0)
        return -1;
    struct contents contents = read_file(path);
    char needle[64];
    const int size = snprintf(needle, sizeof(needle), "%s%ccode", name, 0);
    int count = 0;
    const unsigned char *at = contents.bytes;
    while ((at = memmem(at, contents.size - (size_t)(at - contents.bytes), needle,
                        (size_t)size)) != NULL) {
        count++;
        at += size;
    }
    free(contents.bytes);
    return count;
}

static void a_child_has_a_dump_of_its_own(void **state)
{
    (void)state;
    for (uint32_t mode = 0; mode <= JITDUMP_FLUSH_BACKGROUND; mode++) {
        struct jitdump *dump = open_mode(mode);
        const char *path = strdup(jitdump_path(dump));
        assert_int_equal(load(dump, "before"), 0); /* still in the buffer, if there is one */
        rest_before_fork();
        const pid_t child = fork();
        if (child == 0) {
            CHECK(jitdump_path(dump) == NULL);
            CHECK(jitdump_flush(dump) == 0);
            CHECK(jitdump_flush_from_signal(dump) == 0);
            CHECK(access(dump_path(directory, getpid()), F_OK) != 0);
            CHECK(jitdump_move(dump, 0, 1, 2, 3) == JITDUMP_ERROR_CODE_INDEX);
            CHECK(access(dump_path(directory, getpid()), F_OK) != 0); /* bad input: still none */
            CHECK(load(dump, "child") == 0);
            CHECK(strcmp(jitdump_path(dump), dump_path(directory, getpid())) == 0);
            CHECK(count_mappings(path, "x") == 0);
            CHECK(count_mappings(jitdump_path(dump), "x") == 1);
            CHECK(jitdump_close(dump) == 0);
            CHECK(count_loads(dump_path(directory, getpid()), "before") == 0);
            CHECK(count_loads(dump_path(directory, getpid()), "child") == 1);
            _exit(0);
        }
        assert_child_succeeds(child);
        assert_int_equal(load(dump, "after"), 0);
        assert_int_equal(jitdump_close(dump), 0);
        assert_int_equal(count_loads(path, "before"), 1);
        assert_int_equal(count_loads(path, "child"), 0);
        assert_int_equal(count_loads(path, "after"), 1);
        free((char *)path);
    }
}

static void a_child_that_appends_nothing_leaves_nothing(void **state)
{
    (void)state;
    for (uint32_t mode = 0; mode <= JITDUMP_FLUSH_BACKGROUND; mode++) {
        struct jitdump *dump = open_mode(mode);
        assert_int_equal(load(dump, "before"), 0);
        const int descriptors = count_descriptors();
        rest_before_fork();
        const pid_t child = fork();
        if (child == 0) {
            CHECK(count_descriptors() == descriptors - 1);
            CHECK(!dump->background.running); /* the thread is the parent's */
            CHECK(jitdump_close(dump) == 0);
            CHECK(count_descriptors() == descriptors - 1);
            exit(access(dump_path(directory, getpid()), F_OK) == 0);
        }
        assert_child_succeeds(child);
        assert_int_equal(jitdump_close(dump), 0);
        assert_int_equal(count_loads(dump_path(directory, getpid()), "before"), 1);
    }
}

static void a_grandchild_too(void **state)
{
    (void)state;
    struct jitdump *dump = open_mode(JITDUMP_FLUSH_BACKGROUND);
    rest_before_fork();
    const pid_t child = fork();
    if (child == 0) {
        CHECK(load(dump, "child") == 0);
        rest_before_fork();
        const pid_t grandchild = fork();
        if (grandchild == 0) {
            CHECK(load(dump, "nested") == 0);
            CHECK(jitdump_close(dump) == 0);
            _exit(0);
        }
        int status;
        CHECK(waitpid(grandchild, &status, 0) == grandchild && status == 0);
        CHECK(count_loads(dump_path(directory, grandchild), "nested") == 1);
        CHECK(count_loads(dump_path(directory, grandchild), "child") == 0);
        CHECK(jitdump_close(dump) == 0);
        CHECK(count_loads(dump_path(directory, getpid()), "child") == 1);
        _exit(0);
    }
    assert_child_succeeds(child);
    assert_int_equal(jitdump_close(dump), 0);
}

static void a_child_that_cannot_make_its_dump_has_a_sticky_error(void **state)
{
    (void)state;
    struct jitdump *dump = open_mode(JITDUMP_FLUSH_WRITE_THROUGH);
    const pid_t child = fork();
    if (child == 0) {
        CHECK(mkdir(dump_path(directory, getpid()), 0700) == 0);
        CHECK(load(dump, "child") == JITDUMP_ERROR_FILE_FOREIGN);
        CHECK(rmdir(dump_path(directory, getpid())) == 0);
        CHECK(load(dump, "child") == JITDUMP_ERROR_FILE_FOREIGN);
        CHECK(jitdump_flush(dump) == JITDUMP_ERROR_FILE_FOREIGN);
        CHECK(jitdump_path(dump) == NULL);
        CHECK(jitdump_close(dump) == JITDUMP_ERROR_FILE_FOREIGN);
        _exit(0);
    }
    assert_child_succeeds(child);
    assert_int_equal(load(dump, "parent"), 0);
    assert_int_equal(jitdump_close(dump), 0);
}

static void a_parents_sticky_error_is_not_the_childs(void **state)
{
    (void)state;
    const struct jitdump_options options = {.struct_size = sizeof(options),
                                            .size_limit = 4096,
                                            .directory = directory};
    struct jitdump *dump;
    assert_int_equal(jitdump_open(&dump, &options), 0);
    while (load(dump, "parent") == 0)
        continue;
    const pid_t child = fork();
    if (child == 0) {
        CHECK(load(dump, "child") == 0);
        CHECK(jitdump_close(dump) == 0);
        _exit(0);
    }
    assert_child_succeeds(child);
    assert_int_equal(jitdump_close(dump), JITDUMP_ERROR_SIZE_LIMIT);
}

static void exit_flushes_without_closing(void **state)
{
    (void)state;
    for (uint32_t mode = 0; mode <= JITDUMP_FLUSH_BACKGROUND; mode++) {
        const pid_t child = fork();
        if (child == 0) {
            struct jitdump *dump = open_mode(mode);
            CHECK(load(dump, "last") == 0);
            exit(0);
        }
        assert_child_succeeds(child);
        const char *path = dump_path(directory, child);
        assert_int_equal(count_loads(path, "last"), 1);
        struct stat status;
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_size, 40 + 56 + 5 + 4); /* no JIT_CODE_CLOSE */
    }
}

static void *load_until_refused(void *dump)
{
    while (load(dump, "thread") == 0)
        continue;
    return NULL;
}

/* exit() while other threads append: it ends, and the file is whole. */
static void exit_does_not_wait_for_ever(void **state)
{
    (void)state;
    for (uint32_t mode = 0; mode <= JITDUMP_FLUSH_BACKGROUND; mode++) {
        const pid_t child = fork();
        if (child == 0) {
            struct jitdump *dump = open_mode(mode);
            pthread_t threads[4];
            CHECK(load(dump, "first") == 0);
            for (int i = 0; i < 4; i++)
                CHECK(pthread_create(&threads[i], NULL, load_until_refused, dump) == 0);
            exit(0);
        }
        assert_child_succeeds(child);
        assert_int_equal(count_loads(dump_path(directory, child), "first"), 1);
    }
}

/* As a signal's handler does that has interrupted a call which opens or closes. */
static void exit_ends_while_the_lock_is_held(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        struct jitdump *dump = open_mode(JITDUMP_FLUSH_BUFFERED);
        CHECK(load(dump, "lost") == 0);
        jd_process_lock();
        exit(0);
    }
    assert_child_succeeds(child);
    assert_int_equal(count_loads(dump_path(directory, child), "lost"), 0);
}

static struct jitdump *signal_dump;

static void flush_and_die(int signal)
{
    errno = 4242;
    int error;
    do /* in background mode, the flusher may be writing just now; else there is nobody */
        error = jitdump_flush_from_signal(signal_dump);
    while (error == JITDUMP_ERROR_BUSY);
    _exit(error != 0 ? 200 : errno != 4242 ? 201 : signal == SIGSEGV ? 0 : 202);
}

static void a_crash_can_be_flushed_from_its_handler(void **state)
{
    (void)state;
    for (uint32_t mode = 0; mode <= JITDUMP_FLUSH_BACKGROUND; mode++) {
        const pid_t child = fork();
        if (child == 0) {
            signal_dump = open_mode(mode);
            CHECK(load(signal_dump, "last") == 0);
            signal(SIGSEGV, flush_and_die);
            raise(SIGSEGV);
            CHECK(0);
        }
        assert_child_succeeds(child);
        assert_int_equal(count_loads(dump_path(directory, child), "last"), 1);
    }
}

static void *load_and_be_cancelled(void *dump)
{
    while (load(dump, "cancelled") == 0)
        pthread_testcancel();
    return NULL;
}

static void a_cancelled_thread_leaves_the_dump_usable(void **state)
{
    (void)state;
    struct jitdump *dump = open_mode(JITDUMP_FLUSH_WRITE_THROUGH);
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, load_and_be_cancelled, dump), 0);
        for (int j = 0; j < i % 10; j++)
            sched_yield();
        pthread_cancel(thread);
        void *result;
        assert_int_equal(pthread_join(thread, &result), 0);
        assert_ptr_equal(result, PTHREAD_CANCELED);
    }
    assert_int_equal(load(dump, "after"), 0);
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(count_loads(dump_path(directory, getpid()), "after"), 1);
}

static void *thread_id_of_another(void *result)
{
    *(uint32_t *)result = jd_process_thread_id();
    return (void *)(uintptr_t)gettid();
}

static void thread_ids_are_the_kernels(void **state)
{
    (void)state;
    assert_int_equal(jd_process_thread_id(), gettid());
    assert_int_equal(jd_process_thread_id(), gettid());
    pthread_t thread;
    uint32_t other;
    void *expected;
    assert_int_equal(pthread_create(&thread, NULL, thread_id_of_another, &other), 0);
    assert_int_equal(pthread_join(thread, &expected), 0);
    assert_int_equal(other, (uintptr_t)expected);
    struct jitdump *dump = open_mode(JITDUMP_FLUSH_WRITE_THROUGH); /* forks are watched now */
    const pid_t child = fork();
    if (child == 0) {
        CHECK(jd_process_thread_id() == (uint32_t)gettid());
        _exit(0);
    }
    assert_child_succeeds(child);
    jitdump_close(dump);
}

static void a_shield_keeps_errno_and_defers_cancellation(void **state)
{
    (void)state;
    errno = 77;
    const struct process_shield shield = jd_process_shield();
    errno = 1;
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    assert_int_equal(before, PTHREAD_CANCEL_DISABLE);
    jd_process_unshield(shield);
    assert_int_equal(errno, 77);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
    assert_int_equal(before, PTHREAD_CANCEL_ENABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(a_child_has_a_dump_of_its_own),
        unit_test_in_directory(a_child_that_appends_nothing_leaves_nothing),
        unit_test_in_directory(a_grandchild_too),
        unit_test_in_directory(a_child_that_cannot_make_its_dump_has_a_sticky_error),
        unit_test_in_directory(a_parents_sticky_error_is_not_the_childs),
        unit_test_in_directory(exit_flushes_without_closing),
        unit_test_in_directory(exit_does_not_wait_for_ever),
        unit_test_in_directory(exit_ends_while_the_lock_is_held),
        unit_test_in_directory(a_crash_can_be_flushed_from_its_handler),
        unit_test_in_directory(a_cancelled_thread_leaves_the_dump_usable),
        unit_test_in_directory(thread_ids_are_the_kernels),
        cmocka_unit_test(a_shield_keeps_errno_and_defers_cancellation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
