/* Threads that end, are cancelled or have little stack while they append. */
#define _GNU_SOURCE
#include "life.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_t start(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, function, argument), 0);
    return thread;
}

/* Ends */

static pthread_key_t key;

/* The thread's last act, after it has returned. */
static void load_at_the_end(void *dump)
{
    if (life_load(dump, "at the end") != 0)
        abort();
}

static void *load_and_end(void *dump)
{
    pthread_setspecific(key, dump);
    return (void *)(intptr_t)(life_load(dump, "of a thread") != 0);
}

static void threads_come_and_go(void **state)
{
    (void)state;
    assert_int_equal(pthread_key_create(&key, load_at_the_end), 0);
    for (int mode = 0; mode < MODES; mode++) {
        struct jitdump *dump = life_open(modes[mode], 0);
        assert_non_null(dump);
        for (int i = 0; i < 300; i++) {
            pthread_t threads[3];
            for (int j = 0; j < 3; j++)
                threads[j] = start(load_and_end, dump);
            for (int j = 0; j < 3; j++) {
                void *result;
                assert_int_equal(pthread_join(threads[j], &result), 0);
                assert_null(result);
            }
        }
        wait_for_flushers(modes[mode] == JITDUMP_FLUSH_BACKGROUND);
        assert_int_equal(jitdump_close(dump), 0);
        assert_int_equal(count_loads(getpid(), "of a thread"), 900);
        assert_int_equal(count_loads(getpid(), "at the end"), 900);
    }
    pthread_key_delete(key);
}

/* Cancellation */

static struct jitdump *dump_of_cancelled;
static _Atomic int loads;

static void *load_until_cancelled(void *type)
{
    pthread_setcanceltype((int)(intptr_t)type, NULL);
    while (life_load(dump_of_cancelled, "cancelled") == 0) {
        loads++;
        pthread_testcancel();
    }
    return NULL;
}

/* At any point, also where it waits for a full buffer: the file has what was accepted, and the
 * dump is usable. */
static void deferred_cancellation_waits_for_the_end_of_an_append(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        dump_of_cancelled = life_open(modes[mode], mode == 1 ? JITDUMP_PERF_MAP : 0);
        assert_non_null(dump_of_cancelled);
        loads = 0;
        for (int i = 0; i < 150; i++) {
            pthread_t threads[2];
            for (int j = 0; j < 2; j++)
                threads[j] = start(load_until_cancelled, (void *)PTHREAD_CANCEL_DEFERRED);
            const int before = loads;
            while (loads < before + i % 30)
                sched_yield();
            for (int j = 0; j < 2; j++)
                pthread_cancel(threads[j]);
            for (int j = 0; j < 2; j++) {
                void *result;
                assert_int_equal(pthread_join(threads[j], &result), 0);
                assert_ptr_equal(result, PTHREAD_CANCELED);
            }
        }
        assert_int_equal(life_load(dump_of_cancelled, "after"), 0);
        assert_int_equal(jitdump_close(dump_of_cancelled), 0);
        assert_int_equal(count_loads(getpid(), "cancelled"), loads);
        assert_int_equal(count_loads(getpid(), "after"), 1);
    }
    unlink(perf_map_path(getpid()));
}

/* In the midst of an append, which is then as if its thread slept for ever: not permitted, but the
 * process ends, and the file is readable. */
static void asynchronous_cancellation_leaves_a_readable_file(void **state)
{
    (void)state;
    if (SANITIZED) {
        print_message("skipped: sanitizers can't be cancelled asynchronously themselves\n");
        skip();
    }
    for (int i = 0; i < 2 * MODES; i++) {
        const pid_t child = fork();
        if (child == 0) {
            dump_of_cancelled = life_open(modes[i % MODES], 0);
            CHECK(dump_of_cancelled != NULL);
            pthread_t threads[4];
            for (int j = 0; j < 4; j++)
                CHECK(pthread_create(&threads[j], NULL, load_until_cancelled,
                                     (void *)PTHREAD_CANCEL_ASYNCHRONOUS) == 0);
            while (loads < 50 * (i + 1))
                sched_yield();
            for (int j = 0; j < 4; j++)
                pthread_cancel(threads[j]);
            exit(0);
        }
        assert_child_succeeds(child);
        assert_true(count_loads(child, "cancelled") >= 0);
    }
}

/* Exit */

static _Atomic int ready;

static void *close_when_both_are_ready(void *dump)
{
    ready++;
    while (ready < 2)
        sched_yield();
    jitdump_close(dump);
    return NULL;
}

/* The flusher has one who ends it, whichever comes first. */
static void exit_while_another_thread_closes(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(60); /* it hangs: an end that the parent sees */
            struct jitdump *dump = life_open(JITDUMP_FLUSH_BACKGROUND, 0);
            pthread_t thread;
            CHECK(dump != NULL && life_load(dump, "last") == 0);
            CHECK(pthread_create(&thread, NULL, close_when_both_are_ready, dump) == 0);
            CHECK(pthread_detach(thread) == 0);
            ready++;
            while (ready < 2)
                sched_yield();
            for (volatile int j = 0; j < i % 20 * 1000; j++)
                continue;
            exit(0);
        }
        assert_child_succeeds(child);
        assert_int_equal(count_loads(child, "last"), 1);
        unlink(dump_path(directory, child));
    }
}

/* Little stack */

static void *append_everything(void *argument)
{
    struct jitdump *dump = argument;
    int failed = 0;
    for (int i = 0; i < 3000; i++)
        failed |= life_load(dump, "on a small stack") != 0;
    static const unsigned char large[100000];
    failed |= jitdump_append_raw(dump, 1000, large, sizeof(large)) != 0;
    const struct jitdump_unwind_step step = {.code_offset = 1,
                                             .op = JITDUMP_UNWIND_REMEMBER_STATE};
    const struct jitdump_unwind unwind = {
        .struct_size = sizeof(unwind), .steps = &step, .step_count = 1};
    struct jitdump_code code = {.struct_size = sizeof(code),
                                .name = "unwound",
                                .code_addr = 0x1000,
                                .code_size = 4,
                                .code_bytes = "code",
                                .unwind = &unwind};
    uint64_t index;
    int loaded = jitdump_load(dump, &code, &index);
    if (loaded == JITDUMP_ERROR_UNWIND_MACHINE) {
        code.unwind = NULL; /* frames of this machine can't be described */
        loaded = jitdump_load(dump, &code, &index);
    }
    failed |= loaded != 0;
    failed |= jitdump_move(dump, index, 0x1000, 0x2000, 4) != 0;
    failed |= jitdump_flush(dump) != 0;
    return (void *)(intptr_t)failed;
}

static void *append_track(void *dump)
{
    const struct jitdump_function function = {.name = "f", .file = "file"};
    const struct jitdump_position position = {0, 1, 1, JITDUMP_NONE};
    const struct jitdump_offset offset = {0, 0};
    const struct jitdump_track track = {sizeof(track), 0, "source", &function, 1, &position, 1,
                                        &offset,       1};
    const struct jitdump_code code = {.struct_size = sizeof(code),
                                      .name = "with a track",
                                      .code_addr = 0x1000,
                                      .code_size = 4,
                                      .code_bytes = "code",
                                      .tracks = &track,
                                      .track_count = 1};
    return (void *)(intptr_t)jitdump_load(dump, &code, NULL);
}

/* The kernel puts a guard below: what does not fit is a crash. */
static void assert_works_with_stack(size_t size, void *(*function)(void *), void *dump)
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *result;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, size), 0);
    assert_int_equal(pthread_create(&thread, &attributes, function, dump), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_null(result);
    pthread_attr_destroy(&attributes);
}

static void a_small_stack_will_do(void **state)
{
    (void)state;
    if (SANITIZED) {
        print_message("skipped: this sanitizer makes frames larger\n");
        skip();
    }
    const size_t least = (size_t)PTHREAD_STACK_MIN, size = least > 16 << 10 ? least : 16 << 10;
    for (int mode = 0; mode < MODES; mode++) {
        struct jitdump *dump = life_open(modes[mode], JITDUMP_PERF_MAP);
        assert_non_null(dump);
        assert_works_with_stack(size, append_everything, dump);
        assert_works_with_stack(size + (20 << 10), append_track, dump);
        assert_int_equal(jitdump_close(dump), 0);
        assert_int_equal(count_loads(getpid(), "on a small stack"), 3000);
        assert_int_equal(count_loads(getpid(), "with a track"), 1);
    }
    unlink(perf_map_path(getpid()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(threads_come_and_go),
        unit_test_in_directory(deferred_cancellation_waits_for_the_end_of_an_append),
        unit_test_in_directory(asynchronous_cancellation_leaves_a_readable_file),
        unit_test_in_directory(exit_while_another_thread_closes),
        unit_test_in_directory(a_small_stack_will_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
