/* What a host that owns its process can ask for: a file that it has opened, no handlers, no mask; and a
 * dump that several share. */
#define _GNU_SOURCE
#include "child.h"

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
#include <sys/resource.h>
#include <sys/stat.h>

static int handlers, masks;

/* The thread sanitizer's runtime calls these before it is ready for what it puts into code. */
#if defined(__clang__)
#define UNWATCHED __attribute__((disable_sanitizer_instrumentation))
#else
#define UNWATCHED __attribute__((no_sanitize("thread")))
#endif

int __real_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
UNWATCHED int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void),
                                    void (*child)(void))
{
    handlers++;
    return __real_pthread_atfork(prepare, parent, child);
}

int __real_pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
UNWATCHED int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    masks++;
    return __real_pthread_sigmask(how, set, before);
}

enum { HEADER = 40, LOAD = 56 + 2, CLOSE = 16 };

static const struct jitdump_code code = {.struct_size = sizeof(code), .name = "f",
                                         .code_addr = 0x1000};

static int load(struct jitdump *dump)
{
    return jitdump_load(dump, &code, NULL);
}

static off_t size_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_size : -1;
}

static struct jitdump *open_with(struct jitdump_options options)
{
    struct jitdump *dump;
    options.struct_size = sizeof(options);
    if (options.directory == NULL)
        options.directory = directory;
    return jitdump_open(&dump, &options) == 0 ? dump : NULL;
}

static int open_file(int flags)
{
    return open(dump_path(directory, getpid()), flags | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/* What the outside of the sandbox does, and then the inside. */
static struct jitdump *open_by_descriptor(uint32_t flags)
{
    const int file = open_file(O_RDWR);
    assert_true(file > 2);
    struct jitdump *dump = open_with((struct jitdump_options){
        .flags = flags, .descriptor = (uint64_t)file, .directory = "/nonexistent"});
    assert_non_null(dump);
    close(file);
    return dump;
}

static void a_dump_is_written_to_the_program_s_file(void **state)
{
    (void)state;
    const char *path = dump_path(directory, getpid());
    const int before = count_descriptors();
    struct jitdump *dump = open_by_descriptor(0);
    assert_null(jitdump_path(dump));
    assert_int_equal(count_mappings(path, "x"), 1);
    assert_int_equal(size_of(path), HEADER);
    assert_int_equal(load(dump), 0);
    assert_int_equal(load(dump), 0);
    assert_int_equal(size_of(path), HEADER + 2 * LOAD);
    /* Nobody else's dump takes the name. */
    assert_null(open_with((struct jitdump_options){0}));
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(size_of(path), HEADER + 2 * LOAD + CLOSE);
    assert_int_equal(count_mappings(path, "x"), 0);
    assert_int_equal(count_descriptors(), before);
    assert_int_equal(count_entries(directory), 1);

    dump = open_by_descriptor(JITDUMP_EMPTY_AT_CLOSE);
    assert_int_equal(load(dump), 0);
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(size_of(path), HEADER);
    assert_int_equal(count_entries(directory), 1);
}

static int error_of(int descriptor, uint32_t flags)
{
    char message[300] = "";
    const struct jitdump_options options = {.struct_size = sizeof(options),
                                            .flags = flags,
                                            .descriptor = (uint64_t)descriptor,
                                            .error_message = message,
                                            .error_message_size = sizeof(message)};
    struct jitdump *dump;
    const int error = jitdump_open(&dump, &options);
    assert_null(dump);
    assert_string_not_equal(message, "");
    return error;
}

static void descriptors_that_will_not_do_are_refused(void **state)
{
    (void)state;
    const int before = count_descriptors();
    int file = open_file(O_RDWR);
    static const uint32_t by_path[] = {JITDUMP_UNLINK_AT_CLOSE, JITDUMP_SOURCE_FILES,
                                       JITDUMP_PERF_MAP};
    for (int i = 0; i < 3; i++)
        assert_int_equal(error_of(file, by_path[i]), JITDUMP_ERROR_OPTION);
    assert_int_equal(error_of(2, 0), JITDUMP_ERROR_OPTION);
    assert_int_equal(error_of(-1, 0), JITDUMP_ERROR_OPTION);
    assert_int_equal(error_of(1000, 0), JITDUMP_ERROR_DESCRIPTOR);

    const int second = open(dump_path(directory, getpid()), O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(second, LOCK_EX), 0);
    assert_int_equal(error_of(file, 0), JITDUMP_ERROR_FILE_IN_USE);
    close(second);
    assert_int_equal(write(file, "x", 1), 1);
    assert_int_equal(error_of(file, 0), JITDUMP_ERROR_DESCRIPTOR);
    close(file);
    file = open_file(O_WRONLY);
    assert_int_equal(error_of(file, 0), JITDUMP_ERROR_DESCRIPTOR);
    close(file);
    file = open(dump_path(directory, getpid()), O_RDONLY | O_CLOEXEC);
    assert_int_equal(error_of(file, 0), JITDUMP_ERROR_DESCRIPTOR);
    close(file);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(error_of(ends[1], 0), JITDUMP_ERROR_DESCRIPTOR);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(count_descriptors(), before);
}

static void a_child_needs_a_descriptor_of_its_own(void **state)
{
    (void)state;
    const char *path = dump_path(directory, getpid());
    const int file = open_file(O_RDWR);
    struct jitdump *dump = open_with((struct jitdump_options){.descriptor = (uint64_t)file});
    assert_int_equal(load(dump), 0);
    close(file);
    const pid_t child = fork();
    if (child == 0) {
        /* The number is another file's by now, which would do. */
        CHECK(chdir(directory) == 0 && dup2(open("theirs", O_RDWR | O_CREAT, 0600), file) == file);
        CHECK(load(dump) == JITDUMP_ERROR_DESCRIPTOR);
        CHECK(size_of("theirs") == 0);
        CHECK(load(dump) == JITDUMP_ERROR_DESCRIPTOR);
        CHECK(jitdump_close(dump) == JITDUMP_ERROR_DESCRIPTOR);
        dump = open_by_descriptor(0);
        CHECK(dump != NULL && load(dump) == 0 && jitdump_close(dump) == 0);
        CHECK(size_of(dump_path(directory, getpid())) == HEADER + LOAD + CLOSE);
        _exit(0);
    }
    assert_child_succeeds(child);
    path = dump_path(directory, getpid());
    assert_int_equal(size_of(path), HEADER + LOAD);
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(size_of(path), HEADER + LOAD + CLOSE);
}

/* First of all tests in the process, since handlers are registered once. */
static void no_handler_is_registered(void **state)
{
    (void)state;
    handlers = 0;
    struct jitdump *dump = open_with((struct jitdump_options){.flags = JITDUMP_NO_ATFORK});
    assert_non_null(dump);
    assert_int_equal(handlers, 0);
    jitdump_after_fork(); /* in the parent: nothing */
    assert_int_equal(load(dump), 0);
    const int descriptors = count_descriptors();
    for (int explicitly = 0; explicitly < 2; explicitly++) {
        const pid_t child = fork();
        if (child == 0) {
            CHECK(count_descriptors() == descriptors);
            if (explicitly) {
                jitdump_after_fork();
                CHECK(count_descriptors() == descriptors - 1);
                CHECK(jitdump_path(dump) == NULL);
            }
            CHECK(load(dump) == 0);
            jitdump_after_fork(); /* too late, and no harm */
            CHECK(count_descriptors() == descriptors);
            CHECK(load(dump) == 0);
            CHECK(strcmp(jitdump_path(dump), dump_path(directory, getpid())) == 0);
            CHECK(size_of(jitdump_path(dump)) == HEADER + 2 * LOAD);
            CHECK(jitdump_close(dump) == 0);
            _exit(0);
        }
        assert_child_succeeds(child);
    }
    assert_int_equal(load(dump), 0);
    assert_int_equal(size_of(jitdump_path(dump)), HEADER + 2 * LOAD);
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(handlers, 0);
    dump = open_with((struct jitdump_options){0});
    assert_int_equal(handlers, 1);
    assert_int_equal(jitdump_close(dump), 0);
}

/* What is left of a buffered load after exit(). */
static off_t size_after_exit(uint32_t flags, uint32_t flush_mode)
{
    const pid_t child = fork();
    if (child == 0) {
        struct jitdump *dump = open_with((struct jitdump_options){
            .flags = flags, .flush_mode = flush_mode, .flush_interval_ns = UINT64_C(3600000000000)});
        CHECK(dump != NULL && load(dump) == 0);
        exit(0);
    }
    assert_child_succeeds(child);
    return size_of(dump_path(directory, child));
}

static void the_exit_is_left_alone(void **state)
{
    (void)state;
    for (uint32_t mode = JITDUMP_FLUSH_BUFFERED; mode <= JITDUMP_FLUSH_BACKGROUND; mode++) {
        assert_int_equal(size_after_exit(0, mode), HEADER + LOAD);
        assert_int_equal(size_after_exit(JITDUMP_NO_EXIT_FLUSH, mode), HEADER);
    }
}

static void the_signal_mask_is_left_alone(void **state)
{
    (void)state;
    masks = 0;
    struct jitdump *dump = open_with((struct jitdump_options){
        .flags = JITDUMP_NO_SIGNAL_MASK | JITDUMP_PERF_MAP | JITDUMP_SOURCE_FILES |
                 JITDUMP_EMPTY_AT_CLOSE});
    assert_non_null(dump);
    assert_int_equal(jitdump_embed_source(dump, "s", "text", 4), 0);
    assert_int_equal(load(dump), 0);
    /* The child's files too. */
    const pid_t child = fork();
    if (child == 0) {
        masks = 0;
        CHECK(load(dump) == 0 && jitdump_close(dump) == 0);
        CHECK(masks == 0);
        _exit(0);
    }
    assert_child_succeeds(child);
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(masks, 0);
    dump = open_by_descriptor(JITDUMP_NO_SIGNAL_MASK);
    assert_int_equal(load(dump), 0);
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(masks, 0);
    dump = open_with((struct jitdump_options){0});
    assert_int_equal(jitdump_close(dump), 0);
    assert_true(masks > 0);
}

/* Shared */

static struct jitdump *open_shared(void)
{
    return open_with((struct jitdump_options){.flags = JITDUMP_SHARED});
}

static void two_share_one_dump(void **state)
{
    (void)state;
    struct jitdump *first = open_shared();
    const char *path = dump_path(directory, getpid());
    assert_non_null(first);
    struct jitdump_options options = {.struct_size = sizeof(options), .flags = JITDUMP_SHARED};
    char message[300] = "?";
    options.error_message = message;
    options.error_message_size = sizeof(message);
    options.directory = "/nonexistent";
    struct jitdump *second;
    assert_int_equal(jitdump_open(&second, &options), 0);
    assert_ptr_equal(first, second);
    assert_string_equal(message, "");
    options.flush_mode = JITDUMP_FLUSH_BUFFERED;
    assert_int_equal(jitdump_open(&second, &options), 0);
    assert_ptr_equal(first, second);
    assert_non_null(strstr(message, "JITDUMP_SHARED"));
    options.elf_mach = 40000;
    assert_int_equal(jitdump_open(&second, &options), JITDUMP_ERROR_OPTION);
    assert_null(second);
    /* Who does not share has a dump of their own, or none. */
    assert_null(open_with((struct jitdump_options){0}));

    assert_int_equal(load(first), 0);
    assert_int_equal(jitdump_close(first), 0);
    assert_int_equal(load(first), 0);
    assert_int_equal(jitdump_close(first), 0);
    assert_int_equal(load(first), 0);
    assert_int_equal(size_of(path), HEADER + 3 * LOAD);
    assert_int_equal(jitdump_close(first), 0);
    assert_int_equal(size_of(path), HEADER + 3 * LOAD + CLOSE);
    assert_int_equal(count_mappings(path, "x"), 0);

    first = open_shared();
    assert_non_null(first);
    assert_int_equal(size_of(path), HEADER);
    assert_int_equal(jitdump_close(first), 0);
}

static void a_holder_that_closes_has_its_functions_written(void **state)
{
    (void)state;
    const struct jitdump_options options = {.flags = JITDUMP_SHARED,
                                            .flush_mode = JITDUMP_FLUSH_BUFFERED,
                                            .flush_interval_ns = UINT64_C(3600000000000)};
    struct jitdump *dump = open_with(options);
    assert_ptr_equal(open_with(options), dump);
    assert_int_equal(load(dump), 0);
    assert_int_equal(size_of(jitdump_path(dump)), HEADER);
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(size_of(jitdump_path(dump)), HEADER + LOAD);
    assert_int_equal(jitdump_close(dump), 0);
}

static void the_environment_s_dump_is_shared(void **state)
{
    (void)state;
    char words[PATH_MAX + 10];
    snprintf(words, sizeof(words), "dir=%s", directory);
    setenv("JITDUMP", words, 1);
    struct jitdump *first, *second;
    assert_int_equal(jitdump_open_from_environment(&first, NULL), 0);
    assert_int_equal(jitdump_open_from_environment(&second, NULL), 0);
    assert_non_null(first);
    assert_ptr_equal(first, second);
    unsetenv("JITDUMP");
    assert_int_equal(jitdump_close(first), 0);
    assert_int_equal(jitdump_close(second), 0);
}

static void the_children_of_forks_share_theirs(void **state)
{
    (void)state;
    struct jitdump *dump = open_shared();
    assert_ptr_equal(open_shared(), dump);
    const pid_t child = fork();
    if (child == 0) {
        CHECK(open_shared() == dump);
        CHECK(load(dump) == 0);
        CHECK(size_of(dump_path(directory, getpid())) == HEADER + LOAD);
        for (int i = 0; i < 3; i++)
            CHECK(jitdump_close(dump) == 0);
        CHECK(size_of(dump_path(directory, getpid())) == HEADER + LOAD + CLOSE);
        dump = open_shared();
        CHECK(dump != NULL && jitdump_close(dump) == 0);
        _exit(0);
    }
    assert_child_succeeds(child);
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(jitdump_close(dump), 0);
}

enum { THREADS = 4, ROUNDS = 300 };

/* Each opens, loads and closes at its own pace: now the first, now the last of all. */
static void *open_and_close(void *failures)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct jitdump *dump = open_shared();
        if (dump == NULL || load(dump) != 0 || jitdump_close(dump) != 0)
            __atomic_add_fetch((int *)failures, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void threads_open_and_close_it_at_will(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    int failures = 0;
    const int before = count_descriptors();
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, &failures), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(failures, 0);
    assert_int_equal(count_descriptors(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(no_handler_is_registered),
        unit_test_in_directory(a_dump_is_written_to_the_program_s_file),
        unit_test_in_directory(descriptors_that_will_not_do_are_refused),
        unit_test_in_directory(a_child_needs_a_descriptor_of_its_own),
        unit_test_in_directory(the_exit_is_left_alone),
        unit_test_in_directory(the_signal_mask_is_left_alone),
        unit_test_in_directory(two_share_one_dump),
        unit_test_in_directory(a_holder_that_closes_has_its_functions_written),
        unit_test_in_directory(the_environment_s_dump_is_shared),
        unit_test_in_directory(the_children_of_forks_share_theirs),
        unit_test_in_directory(threads_open_and_close_it_at_will),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
