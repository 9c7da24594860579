/* The flusher thread. */
#define _GNU_SOURCE
#include "temporary.h"

#include "buffer/background.h"
#include "buffer/futex.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int create_errno;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument)
{
    return create_errno != 0 ? create_errno
                             : __real_pthread_create(thread, attributes, start, argument);
}

enum { BLOCK_SIZE = 4096 };

struct fixture {
    struct append_buffer buffer;
    struct background background;
    unsigned char memory[APPEND_BUFFER_BLOCKS * BLOCK_SIZE];
    _Atomic size_t written;
    _Atomic int sink_tid;
    sigset_t mask;
};

static void count(void *context, const struct iovec *bytes, int elements)
{
    struct fixture *fixture = context;
    atomic_store(&fixture->sink_tid, gettid());
    pthread_sigmask(SIG_SETMASK, NULL, &fixture->mask);
    for (int i = 0; i < elements; i++)
        atomic_fetch_add(&fixture->written, bytes[i].iov_len);
}

static int make_fixture(void **state)
{
    create_errno = 0;
    struct fixture *fixture = NULL;
    if (posix_memalign((void **)&fixture, CACHE_LINE, sizeof(*fixture)) != 0)
        return -1;
    memset(fixture, 0, sizeof(*fixture));
    fixture->buffer.block_size = BLOCK_SIZE;
    fixture->buffer.sink = count;
    fixture->buffer.sink_context = fixture;
    jd_append_buffer_init(&fixture->buffer, fixture->memory);
    *state = fixture;
    return 0;
}

static int free_fixture(void **state)
{
    free(*state);
    return 0;
}

static void append(struct fixture *fixture, uint32_t size)
{
    struct append_reservation reservation;
    jd_append_buffer_reserve(&fixture->buffer, size, &reservation);
    memset(reservation.bytes, 'b', size);
    jd_background_call(&fixture->background,
                       jd_append_buffer_commit(&fixture->buffer, &reservation));
}

static void wait_for(struct fixture *fixture, size_t written)
{
    while (atomic_load(&fixture->written) < written)
        sched_yield(); /* for ever if the thread forgets bytes: CTest's limit ends that */
}

static void bytes_arrive_without_another_append(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(jd_background_start(&fixture->background, &fixture->buffer, 1000000), 0);
    for (size_t i = 1; i <= 20; i++) {
        append(fixture, 10);
        wait_for(fixture, 10 * i);
        assert_int_not_equal(atomic_load(&fixture->sink_tid), gettid());
    }
    jd_background_stop(&fixture->background);
    /* Faults are the process's own business; all else is blocked. */
    assert_true(sigismember(&fixture->mask, SIGINT));
    assert_true(sigismember(&fixture->mask, SIGTERM));
    assert_true(sigismember(&fixture->mask, SIGALRM));
    sigset_t ours;
    pthread_sigmask(SIG_SETMASK, NULL, &ours);
    assert_false(sigismember(&ours, SIGINT));
}

static void a_complete_block_does_not_wait_for_the_interval(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(
        jd_background_start(&fixture->background, &fixture->buffer, UINT64_C(3600000000000)), 0);
    for (size_t i = 1; i <= 300; i++) {
        append(fixture, BLOCK_SIZE);
        for (size_t j = 0; j < i % 30; j++)
            sched_yield(); /* the thread may have begun to wait for the hour to pass, or not */
        append(fixture, BLOCK_SIZE); /* ends the first block */
        wait_for(fixture, (2 * i - 1) * BLOCK_SIZE);
        jd_append_buffer_flush_all(&fixture->buffer,
                                   FUTEX_FOREVER); /* the second, which may wait */
    }
    jd_background_stop(&fixture->background);
}

/* The thread must not sleep for an append that is under way where its call can't reach it. */
static void an_append_longer_than_the_interval_arrives(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(jd_background_start(&fixture->background, &fixture->buffer, 1), 0);
    struct append_reservation slow;
    jd_append_buffer_reserve(&fixture->buffer, 10, &slow);
    append(fixture, 10); /* calls the thread, which ends the block */
    while (append_generation(atomic_load(&fixture->buffer.cursor)) == slow.generation)
        sched_yield();
    usleep(10000); /* for it to lie down, if it does: only then the test could fail */
    memset(slow.bytes, 'b', slow.size);
    jd_background_call(&fixture->background, jd_append_buffer_commit(&fixture->buffer, &slow));
    wait_for(fixture, 20);
    jd_background_stop(&fixture->background);
}

static void after_the_stop_appends_flush(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(jd_background_start(&fixture->background, &fixture->buffer, 1), 0);
    jd_background_stop(&fixture->background);
    append(fixture, BLOCK_SIZE);
    append(fixture, 1); /* ends the first block */
    assert_int_equal(atomic_load(&fixture->written), BLOCK_SIZE);
}

static void an_idle_thread_sleeps(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(jd_background_start(&fixture->background, &fixture->buffer, 1), 0);
    while (atomic_load(&fixture->background.sleep) != BACKGROUND_UNTIL_APPEND)
        sched_yield();
    /* It has only said so: until it lies down it looks, and needs no call for an append that it sees. */
    wait_until_others_sleep();
    const uint32_t calls = atomic_load(&fixture->background.calls);
    append(fixture, 10);
    wait_for(fixture, 10);
    assert_int_equal(atomic_load(&fixture->background.calls), calls + 1);
    jd_background_stop(&fixture->background);
}

static void what_is_left_at_the_stop_stays_in_the_buffer(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(
        jd_background_start(&fixture->background, &fixture->buffer, UINT64_C(3600000000000)), 0);
    jd_background_stop(&fixture->background);
    jd_background_stop(&fixture->background); /* nothing runs: nothing happens */
    append(fixture, 10);
    jd_append_buffer_flush_all(&fixture->buffer, FUTEX_FOREVER);
    assert_int_equal(atomic_load(&fixture->written), 10);
    assert_int_equal(atomic_load(&fixture->sink_tid), gettid());
}

/* The holder's thread may be the one that stops it: by exit(), in a signal handler. */
static void a_stop_does_not_wait_for_the_holder(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(jd_background_start(&fixture->background, &fixture->buffer, 1000000), 0);
    atomic_store(&fixture->buffer.flag, APPEND_FLAG_OFFERED);
    append(fixture, 10);
    while (append_offset(atomic_load(&fixture->buffer.cursor)) != 0)
        sched_yield(); /* until the thread has sealed the block, and so wants to flush it */
    jd_background_stop(&fixture->background);
    assert_int_equal(atomic_load(&fixture->buffer.flag), APPEND_FLAG_OFFERED);
    assert_int_equal(atomic_load(&fixture->written), 0);
}

static void a_thread_that_cannot_start_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    create_errno = EAGAIN;
    assert_int_equal(jd_background_start(&fixture->background, &fixture->buffer, 1),
                     JITDUMP_ERROR_THREAD);
    jd_background_stop(&fixture->background);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_fixture, free_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bytes_arrive_without_another_append),
        TEST(a_complete_block_does_not_wait_for_the_interval),
        TEST(an_append_longer_than_the_interval_arrives),
        TEST(after_the_stop_appends_flush),
        TEST(an_idle_thread_sleeps),
        TEST(what_is_left_at_the_stop_stays_in_the_buffer),
        TEST(a_stop_does_not_wait_for_the_holder),
        TEST(a_thread_that_cannot_start_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
