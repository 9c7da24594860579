/*
 * A collector that stops a thread by a signal, and then appends: what the header says of a thread
 * that is suspended in the middle of a call.
 */
#define _GNU_SOURCE
#include "temporary.h"

#include "emitter/handle.h"

#include <sched.h>
#include <signal.h>
#include <sys/uio.h>

enum { BLOCK_SIZE = 4096, MOVES = 2 * APPEND_BUFFER_BLOCKS * BLOCK_SIZE / 64 };

static _Atomic int signal_comes, suspended, resumed;

/* The suspend signal comes when the thread is in the middle of an append. */
ssize_t __real_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count)
{
    if (atomic_exchange(&signal_comes, 0))
        raise(SIGUSR1);
    return __real_writev(fd, bytes, count);
}

static void suspend(int signal)
{
    (void)signal;
    atomic_store(&suspended, 1);
    while (!atomic_load(&resumed))
        sched_yield();
}

struct thread {
    pthread_t thread;
    struct jitdump *dump;
    bool blocks_signal;
    int error;
    _Atomic int done;
};

static void *load(void *argument)
{
    struct thread *thread = argument;
    const unsigned char bytes[16] = {0};
    const struct jitdump_code code = {.struct_size = sizeof(code),
                                      .name = "f",
                                      .code_addr = 0x1000,
                                      .code_size = sizeof(bytes),
                                      .code_bytes = bytes};
    sigset_t signal, before;
    sigemptyset(&signal);
    sigaddset(&signal, SIGUSR1);
    if (thread->blocks_signal)
        pthread_sigmask(SIG_BLOCK, &signal, &before);
    thread->error = jitdump_load(thread->dump, &code, NULL);
    if (thread->blocks_signal)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    atomic_store(&thread->done, 1);
    return NULL;
}

static void *collect(void *argument)
{
    struct thread *thread = argument;
    for (int i = 0; i < MOVES && thread->error == 0; i++)
        thread->error = jitdump_move(thread->dump, 1, 0x1000, 0x2000, 16);
    atomic_store(&thread->done, 1);
    return NULL;
}

static struct jitdump *open_dump(void)
{
    const struct jitdump_options options = {.struct_size = sizeof(options),
                                            .flush_bytes = BLOCK_SIZE,
                                            .directory = directory};
    struct jitdump *dump;
    assert_int_equal(jitdump_open(&dump, &options), 0);
    return dump;
}

static void with_a_suspended_thread(bool blocks_signal)
{
    struct jitdump *dump = open_dump();
    atomic_store(&suspended, 0);
    atomic_store(&resumed, 0);
    struct sigaction before;
    assert_int_equal(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = suspend}, &before), 0);

    struct thread mutator = {.dump = dump, .blocks_signal = blocks_signal};
    struct thread collector = {.dump = dump};
    atomic_store(&signal_comes, 1);
    pthread_create(&mutator.thread, NULL, load, &mutator);
    while (!atomic_load(&suspended))
        sched_yield();
    pthread_create(&collector.thread, NULL, collect, &collector);
    if (blocks_signal) {
        pthread_join(collector.thread, NULL);
        assert_false(atomic_load(&mutator.done));
        assert_int_equal(jitdump_flush(dump), 0);
        atomic_store(&resumed, 1);
    } else {
        while (atomic_load(&dump->buffer.waiters) == 0)
            sched_yield(); /* the buffer is full */
        assert_false(atomic_load(&collector.done));
        assert_int_equal(jitdump_flush_from_signal(dump), JITDUMP_ERROR_BUSY);
        atomic_store(&resumed, 1);
        pthread_join(collector.thread, NULL);
    }
    pthread_join(mutator.thread, NULL);
    assert_int_equal(mutator.error, 0);
    assert_int_equal(collector.error, 0);
    sigaction(SIGUSR1, &before, NULL);
    assert_int_equal(jitdump_close(dump), 0);
}

static void a_collector_waits_for_a_thread_that_is_suspended_in_an_append(void **state)
{
    (void)state;
    with_a_suspended_thread(false);
}

static void it_does_not_where_the_signal_is_blocked_around_calls(void **state)
{
    (void)state;
    with_a_suspended_thread(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(a_collector_waits_for_a_thread_that_is_suspended_in_an_append),
        unit_test_in_directory(it_does_not_where_the_signal_is_blocked_around_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
