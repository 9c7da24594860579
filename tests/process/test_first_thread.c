/*
 * The first thread ends by pthread_exit(), the others go on; the process ends with the last one.
 *
 * The tests run in a second thread, so that it is this program's own first thread that ends. A
 * forked child's can't in musl before 1.2.5, which hangs then, whatever the program does
 * (docs/robustness.md).
 */
#define _GNU_SOURCE
#include "life.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

static pthread_t first_thread;

/* Of each mode, opened by the first thread. */
static char directories[MODES][PATH_MAX];
static struct jitdump *dumps[MODES];

static void its_dumps_go_on(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        directory = directories[mode];
        assert_int_equal(life_load(dumps[mode], "when alone"), 0);
        assert_int_equal(jitdump_close(dumps[mode]), 0);
        assert_int_equal(count_loads(getpid(), "of the first"), 1);
        assert_int_equal(count_loads(getpid(), "when alone"), 1);
        assert_true(is_closed(getpid()));
    }
}

static void another_dump_can_be_opened(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        directory = directories[mode];
        struct jitdump *dump = life_open(modes[mode], 0);
        assert_non_null(dump);
        assert_int_equal(life_load(dump, "of another"), 0);
        assert_int_equal(jitdump_close(dump), 0);
        assert_int_equal(count_loads(getpid(), "of another"), 1);
    }
}

static void *go_on(void *temporary)
{
    CHECK(pthread_join(first_thread, NULL) == 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_dumps_go_on),
        cmocka_unit_test(another_dump_can_be_opened),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    CHECK(remove_temporary_directory(&temporary) == 0 && failed == 0);
    return NULL; /* which ends the process, with status 0 */
}

int main(void)
{
    if (SANITIZED) {
        puts("skipped: sanitizers don't know that the first thread may be joined");
        return 77;
    }
    void *temporary;
    CHECK(make_temporary_directory(&temporary) == 0);
    for (int mode = 0; mode < MODES; mode++) {
        snprintf(directories[mode], PATH_MAX, "%s/%d", (const char *)temporary, mode);
        directory = directories[mode];
        CHECK(mkdir(directory, 0700) == 0);
        dumps[mode] = life_open(modes[mode], 0);
        CHECK(dumps[mode] != NULL && life_load(dumps[mode], "of the first") == 0);
    }
    first_thread = pthread_self();
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, go_on, temporary) == 0);
    pthread_exit(NULL);
}
