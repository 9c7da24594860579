/* Other fork handlers than the library's: of a runtime, which registered them earlier or later. */
#define _GNU_SOURCE
#include "life.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static struct jitdump *dump;

/* What the handlers do; a test sets it. Those that are registered before the library's run behind it
 * in the parent, and before it in the child. */
static void (*early_prepare)(void);
static void (*early_child)(void);
static void (*late_child)(void);

static void call_early_prepare(void)
{
    if (early_prepare != NULL)
        early_prepare();
}

static void call_early_child(void)
{
    if (early_child != NULL)
        early_child();
}

static void call_late_child(void)
{
    if (late_child != NULL)
        late_child();
}

static int tear_down(void **state)
{
    early_prepare = early_child = late_child = NULL;
    return remove_temporary_directory(state);
}

/* A compiler's thread, which the runtime lets come to a safepoint before it forks. */

enum { RUN, STOP_WANTED, STOPPED, END };
static _Atomic int compiler;
static _Atomic int compiled;

static void *compile(void *unused)
{
    for (int i = 0; compiler != END; i++) {
        char path[32];
        snprintf(path, sizeof(path), "source %d", i);
        uint32_t tier;
        const int added = jitdump_add_tier(dump, "tier", 0, "tier: ", &tier);
        const int embedded = jitdump_embed_source(dump, path, "text", 4);
        if (life_load(dump, "compiled") == 0 && embedded == 0 &&
            (added == 0 || added == JITDUMP_ERROR_TIER_LIMIT))
            compiled++;
        sched_yield();
        int wanted = STOP_WANTED;
        if (atomic_compare_exchange_strong(&compiler, &wanted, STOPPED))
            while (compiler == STOPPED)
                sched_yield();
    }
    return unused;
}

static void stop_compiler(void)
{
    const int before = compiled;
    while (compiled < before + 2) /* it is at work, and is to end that */
        sched_yield();
    compiler = STOP_WANTED;
    while (compiler != STOPPED)
        sched_yield();
}

static void a_prepare_handler_may_wait_for_threads_that_emit(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        const pid_t runtime = fork();
        if (runtime == 0) {
            alarm(100); /* it hangs: an end that the parent sees */
            dump = life_open(modes[mode], 0);
            CHECK(dump != NULL);
            early_prepare = stop_compiler;
            compiler = RUN;
            pthread_t thread;
            CHECK(pthread_create(&thread, NULL, compile, NULL) == 0);
            for (int i = 0; i < 20; i++) {
                const pid_t child = fork();
                if (child == 0)
                    _exit(0);
                compiler = RUN;
                int status;
                CHECK(waitpid(child, &status, 0) == child && status == 0);
            }
            compiler = END;
            CHECK(pthread_join(thread, NULL) == 0);
            CHECK(jitdump_close(dump) == 0);
            CHECK(count_loads(getpid(), "compiled") >= 40);
            _exit(0);
        }
        assert_child_succeeds(runtime);
    }
}

/* A child's handlers may emit too */

static void emit_early(void)
{
    uint32_t tier;
    CHECK(jitdump_path(dump) == NULL);
    CHECK(jitdump_flush(dump) == 0 && jitdump_flush_from_signal(dump) == 0);
    CHECK(jitdump_add_tier(dump, "tier", 0, "tier: ", &tier) == 0);
    CHECK(life_load(dump, "early") == 0);
    CHECK(jitdump_embed_source(dump, "early", "text", 4) == 0);
    CHECK(jitdump_flush(dump) == 0);
}

static void embed_early(void)
{
    CHECK(jitdump_embed_source(dump, "early", "text", 4) == 0);
    CHECK(life_load(dump, "early") == 0);
}

static void emit_late(void)
{
    CHECK(life_load(dump, "late") == 0);
}

static void close_early(void)
{
    CHECK(jitdump_close(dump) == 0);
    _exit(0);
}

static void end_early(void)
{
    exit(0);
}

static void assert_counts(pid_t pid, int before, int early, int late)
{
    assert_int_equal(count_loads(pid, "before"), before);
    assert_int_equal(count_loads(pid, "early"), early);
    assert_int_equal(count_loads(pid, "late"), late);
}

static void what_a_child_s_handlers_emit_is_the_child_s(void **state)
{
    (void)state;
    static void (*const early[])(void) = {emit_early, embed_early, NULL, close_early, end_early};
    /* At exit(), what only an open dump refers to would look leaked to a sanitizer. */
    for (int run = 0; run < (SANITIZED ? 4 : 5) * MODES; run++) {
        dump = life_open(modes[run % MODES], JITDUMP_PERF_MAP);
        assert_non_null(dump);
        assert_int_equal(life_load(dump, "before"), 0);
        early_child = early[run / MODES];
        late_child = emit_late;
        rest_before_fork();
        const pid_t child = fork();
        if (child == 0) {
            CHECK(jitdump_close(dump) == 0);
            _exit(0);
        }
        early_child = late_child = NULL;
        assert_child_succeeds(child);
        assert_int_equal(life_load(dump, "before"), 0);
        assert_int_equal(jitdump_close(dump), 0);
        if (run / MODES < 3)
            assert_counts(child, 0, run / MODES < 2, 1);
        else
            assert_counts(child, -1, -1, -1);
        assert_counts(getpid(), 2, 0, 0);
        unlink(perf_map_path(child));
    }
    unlink(perf_map_path(getpid()));
}

/* At whatever a thread is when another forks, the child can go on. */

static void *open_embed_and_close(void *unused)
{
    const char *const first = directory;
    while (compiler != END) {
        static char second[PATH_MAX];
        snprintf(second, sizeof(second), "%s/..", first);
        const struct jitdump_options options = {.struct_size = sizeof(options),
                                                .flags = JITDUMP_SOURCE_FILES,
                                                .directory = second};
        struct jitdump *other;
        if (jitdump_open(&other, &options) != 0 ||
            jitdump_embed_source(other, "source", "text", 4) != 0 || jitdump_close(other) != 0)
            return (void *)first;
        compiled++;
    }
    return unused;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_temporary_directory, tear_down)

static void a_child_goes_on_whatever_other_threads_were_about(void **state)
{
    (void)state;
    skip_where_parents_cannot_have_threads();
    char inner[PATH_MAX];
    snprintf(inner, sizeof(inner), "%s/inner", directory);
    assert_int_equal(mkdir(inner, 0700), 0);
    const char *const outer = directory;
    directory = inner;
    for (int mode = 0; mode < MODES; mode++) {
        dump = life_open(modes[mode], 0);
        assert_non_null(dump);
        compiler = RUN;
        compiled = 0;
        pthread_t threads[2];
        assert_int_equal(pthread_create(&threads[0], NULL, compile, NULL), 0);
        assert_int_equal(pthread_create(&threads[1], NULL, open_embed_and_close, NULL), 0);
        while (compiled < 10)
            sched_yield();
        for (int i = 0; i < 60; i++) {
            const pid_t child = fork();
            if (child == 0) {
                alarm(60);
                uint32_t tier;
                const int added = jitdump_add_tier(dump, "tier", 0, "tier: ", &tier);
                CHECK(added == 0 || added == JITDUMP_ERROR_TIER_LIMIT);
                CHECK(jitdump_embed_source(dump, "of the child", "text", 4) == 0);
                CHECK(life_load(dump, "of the child") == 0);
                CHECK(jitdump_close(dump) == 0);
                CHECK(count_loads(getpid(), "of the child") == 1);
                CHECK(count_loads(getpid(), "compiled") == 0);
                CHECK(unlink(dump_path(directory, getpid())) == 0);
                _exit(0);
            }
            assert_child_succeeds(child);
        }
        compiler = END;
        for (int i = 0; i < 2; i++) {
            void *result;
            assert_int_equal(pthread_join(threads[i], &result), 0);
            assert_null(result);
        }
        assert_int_equal(jitdump_close(dump), 0);
        assert_int_equal(count_loads(getpid(), "of the child"), 0);
    }
    directory = outer;
}

int main(void)
{
    /* In the order of their registration: early, the library's, late. */
    if (pthread_atfork(call_early_prepare, NULL, call_early_child) != 0)
        return 1;
    directory = "/tmp";
    if (jitdump_close(life_open(JITDUMP_FLUSH_BUFFERED, JITDUMP_UNLINK_AT_CLOSE)) != 0 ||
        pthread_atfork(NULL, NULL, call_late_child) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        TEST(a_prepare_handler_may_wait_for_threads_that_emit),
        TEST(what_a_child_s_handlers_emit_is_the_child_s),
        TEST(a_child_goes_on_whatever_other_threads_were_about),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
