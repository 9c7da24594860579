/* Children of all sorts, made while the process appends. */
#define _GNU_SOURCE
#include "life.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Threads that append until they are stopped. */

#define APPENDERS 3

static struct appenders {
    struct jitdump *dump;
    _Atomic bool stop;
    _Atomic int loads;
    pthread_t threads[APPENDERS];
} appenders;

static void *append(void *unused)
{
    while (!appenders.stop)
        if (life_load(appenders.dump, "of the parent") == 0)
            appenders.loads++;
    return unused;
}

static void start_appenders(struct jitdump *dump)
{
    appenders = (struct appenders){.dump = dump};
    for (int i = 0; i < APPENDERS; i++)
        assert_int_equal(pthread_create(&appenders.threads[i], NULL, append, NULL), 0);
    while (appenders.loads < APPENDERS)
        sched_yield();
}

static void stop_appenders(void)
{
    appenders.stop = true;
    for (int i = 0; i < APPENDERS; i++)
        assert_int_equal(pthread_join(appenders.threads[i], NULL), 0);
}

/* fork */

#define FORKERS 3
#define FORKS 15
#define CHILD_LOADS 20

static void *fork_children(void *argument)
{
    pid_t *children = argument;
    for (int i = 0; i < FORKS; i++) {
        children[i] = fork();
        if (children[i] != 0)
            continue;
        for (int j = 0; j < CHILD_LOADS; j++)
            CHECK(life_load(appenders.dump, "of the child") == 0);
        CHECK(jitdump_close(appenders.dump) == 0);
        _exit(0);
    }
    return NULL;
}

static void several_threads_fork_while_others_append(void **state)
{
    (void)state;
    skip_where_parents_cannot_have_threads();
    for (int mode = 0; mode < MODES; mode++) {
        struct jitdump *dump = life_open(modes[mode], 0);
        assert_non_null(dump);
        start_appenders(dump);
        pthread_t forkers[FORKERS];
        pid_t children[FORKERS][FORKS];
        for (int i = 0; i < FORKERS; i++)
            assert_int_equal(pthread_create(&forkers[i], NULL, fork_children, children[i]), 0);
        for (int i = 0; i < FORKERS; i++)
            pthread_join(forkers[i], NULL);
        stop_appenders();
        assert_int_equal(jitdump_close(dump), 0);
        for (int i = 0; i < FORKERS * FORKS; i++) {
            const pid_t child = children[i / FORKS][i % FORKS];
            assert_child_succeeds(child);
            assert_int_equal(count_loads(child, "of the child"), CHILD_LOADS);
            assert_int_equal(count_loads(child, "of the parent"), 0);
            assert_true(is_closed(child));
        }
        assert_int_equal(count_loads(getpid(), "of the parent"), appenders.loads);
        assert_int_equal(count_loads(getpid(), "of the child"), 0);
    }
}

/* Each process begets so many, down to the last generation, and all append. */
#define BREADTH 3
#define GENERATIONS (SANITIZED ? 3 : 4)
#define DESCENDANTS (3 + 9 + 27 + (SANITIZED ? 0 : 81))

static void multiply(struct jitdump *dump, int generation, _Atomic int *made)
{
    pid_t children[BREADTH];
    for (int i = 0; generation < GENERATIONS && i < BREADTH; i++) {
        rest_before_fork();
        children[i] = fork();
        CHECK(children[i] >= 0);
        if (children[i] == 0) {
            CHECK(life_load(dump, "before") == 0);
            multiply(dump, generation + 1, made);
            CHECK(life_load(dump, "after") == 0);
            CHECK(jitdump_close(dump) == 0);
            CHECK(count_loads(getpid(), "before") == 1 && count_loads(getpid(), "after") == 1);
            (*made)++;
            _exit(0);
        }
    }
    for (int i = 0; generation < GENERATIONS && i < BREADTH; i++) {
        int status;
        CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
    }
}

static void generations_of_children_append(void **state)
{
    (void)state;
    _Atomic int *made = mmap_shared(sizeof(*made));
    for (int mode = 0; mode < MODES; mode++) {
        *made = 0;
        struct jitdump *dump = life_open(modes[mode], 0);
        assert_non_null(dump);
        rest_before_fork();
        const pid_t child = fork();
        if (child == 0) {
            multiply(dump, 0, made);
            _exit(0);
        }
        assert_child_succeeds(child);
        assert_int_equal(*made, DESCENDANTS);
        assert_int_equal(jitdump_close(dump), 0);
    }
}

/* exec */

/* The program that is executed: this one, with a word on its command line. Exit status 0 if it has
 * nothing of the dump of `directory`. */
static int look_for_traces(const char *where)
{
    for (int fd = 0; fd < 1000; fd++) {
        char link[64], target[PATH_MAX] = "";
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        if (readlink(link, target, sizeof(target) - 1) > 0 &&
            (strstr(target, where) != NULL || strstr(target, "/tmp/perf-") != NULL))
            return 1;
    }
    return count_mappings("jit-", "") != 0 ? 2 : 0;
}

static char program[PATH_MAX];

static pid_t spawn(void)
{
    pid_t child;
    char *arguments[] = {program, "look", (char *)directory, NULL};
    return posix_spawn(&child, program, NULL, NULL, arguments, environ) == 0 ? child : -1;
}

static pid_t vfork_and_exec(void)
{
    const pid_t child = vfork();
    if (child == 0) {
        execl(program, program, "look", directory, NULL);
        _exit(99);
    }
    return child;
}

static pid_t fork_and_exec(void)
{
    const pid_t child = fork();
    if (child == 0) {
        execl(program, program, "look", directory, NULL);
        _exit(99);
    }
    return child;
}

static void executed_programs_have_nothing_of_it(void **state)
{
    (void)state;
    skip_where_parents_cannot_have_threads();
    static pid_t (*const ways[])(void) = {spawn, vfork_and_exec, fork_and_exec};
    for (int mode = 0; mode < MODES; mode++) {
        struct jitdump *dump = life_open(modes[mode], JITDUMP_PERF_MAP | JITDUMP_SOURCE_FILES |
                                                          JITDUMP_UNLINK_AT_CLOSE);
        assert_non_null(dump);
        assert_int_equal(jitdump_embed_source(dump, "file", "text", 4), 0);
        assert_int_equal(look_for_traces(directory), 1); /* it would see them */
        start_appenders(dump);
        for (size_t i = 0; i < 60; i++) {
            const pid_t child = ways[i % 3]();
            assert_child_succeeds(child);
            assert_int_equal(count_loads(child, "of the parent"), -1);
        }
        stop_appenders();
        assert_int_equal(jitdump_flush(dump), 0);
        assert_int_equal(count_loads(getpid(), "of the parent"), appenders.loads);
        assert_int_equal(jitdump_close(dump), 0);
    }
}

/* Between its making and its exec a child has all descriptors, and with them the locks. */

static _Atomic bool stop_spawning;

static void *spawn_again_and_again(void *count)
{
    while (!stop_spawning) {
        const pid_t child = spawn();
        int status;
        if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
            (WEXITSTATUS(status) == 0))
            ++*(_Atomic int *)count;
    }
    return NULL;
}

static void the_name_is_free_after_the_close(void **state)
{
    (void)state;
    _Atomic int spawned = 0;
    pthread_t thread;
    stop_spawning = false;
    assert_int_equal(pthread_create(&thread, NULL, spawn_again_and_again, &spawned), 0);
    for (int opens = 0; opens < 500 || spawned < 30; opens++) {
        struct jitdump *dump = life_open(JITDUMP_FLUSH_BUFFERED, JITDUMP_PERF_MAP);
        assert_non_null(dump);
        assert_int_equal(life_load(dump, "f"), 0);
        assert_int_equal(jitdump_close(dump), 0);
    }
    stop_spawning = true;
    pthread_join(thread, NULL);
    unlink(perf_map_path(getpid()));
}

/* A child that never appends keeps what it may need, but not the name. */
static void an_idle_child_does_not_keep_the_name(void **state)
{
    (void)state;
    struct jitdump *dump = life_open(JITDUMP_FLUSH_BUFFERED, JITDUMP_PERF_MAP);
    assert_non_null(dump);
    int end[2];
    assert_int_equal(pipe(end), 0);
    const pid_t child = fork();
    if (child == 0) {
        char byte;
        close(end[1]);
        _exit(read(end[0], &byte, 1) != 0);
    }
    assert_int_equal(jitdump_close(dump), 0);
    dump = life_open(JITDUMP_FLUSH_BUFFERED, JITDUMP_PERF_MAP);
    assert_non_null(dump);
    close(end[1]);
    close(end[0]);
    assert_child_succeeds(child);
    /* Nor does a child that closes take it away from its parent. */
    const pid_t closing = fork();
    if (closing == 0)
        _exit(jitdump_close(dump) != 0);
    assert_child_succeeds(closing);
    assert_null(life_open(JITDUMP_FLUSH_BUFFERED, 0));
    const char *first = directory;
    char second[PATH_MAX];
    snprintf(second, sizeof(second), "%s/second", directory);
    assert_int_equal(mkdir(second, 0700), 0);
    directory = second;
    assert_null(life_open(JITDUMP_FLUSH_BUFFERED, JITDUMP_PERF_MAP));
    directory = first;
    assert_int_equal(jitdump_close(dump), 0);
    unlink(perf_map_path(getpid()));
}

/* A daemon is its starter's grandchild. */
static void a_daemon_has_a_dump_of_its_own(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        int results[2];
        assert_int_equal(pipe(results), 0);
        const pid_t starter = fork();
        if (starter == 0) {
            struct jitdump *dump = life_open(modes[mode], 0);
            CHECK(dump != NULL && life_load(dump, "before") == 0);
            rest_before_fork();
            if (daemon(0, 0) != 0)
                _exit(1);
            pid_t self = getpid();
            if (life_load(dump, "of the daemon") != 0 || jitdump_close(dump) != 0)
                self = -1;
            _exit(write(results[1], &self, sizeof(self)) != sizeof(self));
        }
        assert_child_succeeds(starter);
        close(results[1]);
        pid_t daemon_pid;
        assert_int_equal(read(results[0], &daemon_pid, sizeof(daemon_pid)), sizeof(daemon_pid));
        close(results[0]);
        assert_int_equal(count_loads(daemon_pid, "of the daemon"), 1);
        assert_int_equal(count_loads(daemon_pid, "before"), 0);
        assert_int_equal(count_loads(starter, "of the daemon"), 0);
        /* The starter ends by _exit(), in daemon(). */
        assert_int_equal(count_loads(starter, "before"), mode == 0);
    }
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return look_for_traces(argv[2]);
    if (realpath(argv[0], program) == NULL)
        return 1;
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(several_threads_fork_while_others_append),
        unit_test_in_directory(generations_of_children_append),
        unit_test_in_directory(executed_programs_have_nothing_of_it),
        unit_test_in_directory(the_name_is_free_after_the_close),
        unit_test_in_directory(an_idle_child_does_not_keep_the_name),
        unit_test_in_directory(a_daemon_has_a_dump_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
