/* The append buffer, with a sink that keeps what it gets. */
#define _GNU_SOURCE
#include "temporary.h"

#include "buffer/append_buffer.h"
#include "buffer/futex.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_SIZE = 256, KEPT_SIZE = 8 << 20 };

struct fixture {
    struct append_buffer buffer;
    unsigned char memory[APPEND_BUFFER_BLOCKS * BLOCK_SIZE];
    unsigned char *kept;
    size_t kept_size;
    int sink_calls;
    /* While set, the sink waits in its first call. */
    _Atomic int hold;
    _Atomic int held;
    /* See feed(): how many appends the other thread is to make, and has made; and how often the
     * fed thread has written. */
    _Atomic int wanted;
    _Atomic int appended;
    int fed_writes;
};

enum { FED = 100 };

/* This thread's writes each wait for one more append of another thread, and take a while: as
 * long as a turn is. */
static _Thread_local bool is_fed;

static void feed(struct fixture *fixture)
{
    fixture->fed_writes++;
    if (fixture->fed_writes > FED)
        return;
    atomic_store(&fixture->wanted, fixture->fed_writes);
    const uint64_t end = jd_clock_now(JITDUMP_CLOCK_MONOTONIC) + 4000000;
    while (jd_clock_now(JITDUMP_CLOCK_MONOTONIC) < end)
        sched_yield();
    /* Or until the other thread waits itself, for its turn. */
    while (atomic_load(&fixture->appended) < fixture->fed_writes &&
           atomic_load(&fixture->buffer.flag) % APPEND_FLAG_STATES != APPEND_FLAG_ACCEPTED)
        sched_yield();
}

static void keep(void *context, const struct iovec *bytes, int count)
{
    struct fixture *fixture = context;
    atomic_store(&fixture->held, 1);
    while (atomic_load(&fixture->hold))
        sched_yield();
    fixture->sink_calls++;
    if (is_fed)
        feed(fixture);
    for (int i = 0; i < count; i++) {
        assert_true(fixture->kept_size + bytes[i].iov_len <= KEPT_SIZE);
        memcpy(fixture->kept + fixture->kept_size, bytes[i].iov_base, bytes[i].iov_len);
        fixture->kept_size += bytes[i].iov_len;
    }
}

static struct fixture *make_fixture(bool eager)
{
    struct fixture *fixture = NULL;
    assert_int_equal(posix_memalign((void **)&fixture, CACHE_LINE, sizeof(*fixture)), 0);
    memset(fixture, 0, sizeof(*fixture));
    fixture->kept = malloc(KEPT_SIZE);
    fixture->buffer.block_size = BLOCK_SIZE;
    fixture->buffer.first_index = 1;
    fixture->buffer.clock = JITDUMP_CLOCK_MONOTONIC;
    fixture->buffer.eager = eager;
    fixture->buffer.sink = keep;
    fixture->buffer.sink_context = fixture;
    jd_append_buffer_init(&fixture->buffer, fixture->memory);
    return fixture;
}

static void free_fixture(struct fixture *fixture)
{
    free(fixture->kept);
    free(fixture);
}

/* Appends `size` bytes of `fill`. */
static struct append_reservation append(struct fixture *fixture, uint32_t size, int fill)
{
    struct append_reservation reservation;
    jd_append_buffer_reserve(&fixture->buffer, size, &reservation);
    memset(reservation.bytes, fill, size);
    if (jd_append_buffer_commit(&fixture->buffer, &reservation) || fixture->buffer.eager)
        jd_append_buffer_flush(&fixture->buffer);
    return reservation;
}

static void assert_kept(const struct fixture *fixture, size_t from, size_t size, int fill)
{
    assert_true(from + size <= fixture->kept_size);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(fixture->kept[from + i], fill);
}

static void an_eager_buffer_hands_over_each_append(void **state)
{
    (void)state;
    struct fixture *fixture = make_fixture(true);
    for (int i = 1; i <= 10; i++) {
        append(fixture, 10, i);
        assert_int_equal(fixture->kept_size, 10 * i);
        assert_kept(fixture, 10 * (size_t)(i - 1), 10, i);
        assert_true(jd_append_buffer_is_empty(&fixture->buffer));
    }
    assert_int_equal(fixture->sink_calls, 10);
    free_fixture(fixture);
}

static void a_lazy_buffer_hands_over_whole_blocks(void **state)
{
    (void)state;
    struct fixture *fixture = make_fixture(false);
    append(fixture, BLOCK_SIZE - 1, 'a');
    append(fixture, 1, 'b'); /* fills the block to its last byte */
    assert_int_equal(fixture->sink_calls, 0);
    append(fixture, 1, 'c'); /* needs the next block, and so ends the first */
    assert_int_equal(fixture->sink_calls, 1);
    assert_int_equal(fixture->kept_size, BLOCK_SIZE);
    assert_kept(fixture, 0, BLOCK_SIZE - 1, 'a');
    assert_kept(fixture, BLOCK_SIZE - 1, 1, 'b');
    assert_false(jd_append_buffer_is_empty(&fixture->buffer));
    assert_true(jd_append_buffer_flush_all(&fixture->buffer, FUTEX_FOREVER));
    assert_kept(fixture, BLOCK_SIZE, 1, 'c');
    assert_true(jd_append_buffer_is_empty(&fixture->buffer));
    free_fixture(fixture);
}

static void a_block_too_small_for_the_next_append_is_ended_without_padding(void **state)
{
    (void)state;
    struct fixture *fixture = make_fixture(false);
    for (int i = 0; i < 12; i++)
        append(fixture, 200, i);
    jd_append_buffer_flush_all(&fixture->buffer, FUTEX_FOREVER);
    assert_int_equal(fixture->kept_size, 12 * 200);
    for (int i = 0; i < 12; i++)
        assert_kept(fixture, 200 * (size_t)i, 200, i);
    free_fixture(fixture);
}

static void indices_ascend_and_times_do_not_descend(void **state)
{
    (void)state;
    struct fixture *fixture = make_fixture(false);
    struct append_reservation before = append(fixture, 1, 0);
    assert_true(before.index > 0);
    for (uint32_t i = 0; i < 1000; i++) {
        const struct append_reservation now = append(fixture, 1 + i % BLOCK_SIZE, 0);
        assert_true(now.index > before.index);
        assert_true(now.timestamp >= before.timestamp);
        before = now;
    }
    free_fixture(fixture);
}

static void an_oversize_append_takes_its_turn(void **state)
{
    (void)state;
    struct fixture *fixture = make_fixture(false);
    static unsigned char large[5000];
    memset(large, 'x', sizeof(large));

    const struct append_reservation first = append(fixture, 10, 'a');
    struct append_reservation oversize;
    jd_append_buffer_reserve_oversize(&fixture->buffer, &oversize);
    assert_null(oversize.bytes);
    const struct append_reservation last = append(fixture, 10, 'b');
    assert_true(first.index < oversize.index && oversize.index < last.index);
    assert_true(first.timestamp <= oversize.timestamp && oversize.timestamp <= last.timestamp);

    const struct iovec bytes[2] = {{large, 4000}, {large + 4000, 1000}};
    jd_append_buffer_commit_oversize(&fixture->buffer, &oversize, bytes, 2);
    assert_int_equal(fixture->kept_size, 5010);
    jd_append_buffer_flush_all(&fixture->buffer, FUTEX_FOREVER);
    assert_int_equal(fixture->kept_size, 5020);
    assert_kept(fixture, 0, 10, 'a');
    assert_kept(fixture, 10, 5000, 'x');
    assert_kept(fixture, 5010, 10, 'b');
    free_fixture(fixture);
}

static void bytes_wait_for_an_earlier_append_that_is_under_way(void **state)
{
    (void)state;
    struct fixture *fixture = make_fixture(true);
    struct append_reservation slow;
    jd_append_buffer_reserve(&fixture->buffer, 10, &slow);
    append(fixture, 10, 'b'); /* can't be handed over: a hole is in front of it */
    assert_int_equal(fixture->kept_size, 0);
    assert_false(jd_append_buffer_flush_all(&fixture->buffer, 1000000));
    assert_int_equal(fixture->kept_size, 0);

    memset(slow.bytes, 'a', 10);
    assert_true(jd_append_buffer_commit(&fixture->buffer, &slow));
    jd_append_buffer_flush(&fixture->buffer);
    assert_int_equal(fixture->kept_size, 20);
    assert_kept(fixture, 0, 10, 'a');
    assert_kept(fixture, 10, 10, 'b');
    free_fixture(fixture);
}

struct appender {
    struct fixture *fixture;
    pthread_t thread;
    int count;
    _Atomic int done;
};

static void *append_many(void *argument)
{
    struct appender *appender = argument;
    for (int i = 0; i < appender->count; i++)
        append(appender->fixture, 100, 'z');
    atomic_store(&appender->done, 1);
    return NULL;
}

static void a_full_buffer_makes_appends_wait_and_loses_nothing(void **state)
{
    (void)state;
    struct fixture *fixture = make_fixture(false);
    struct append_reservation slow;
    jd_append_buffer_reserve(&fixture->buffer, 100, &slow);
    memset(slow.bytes, 's', 100);

    struct appender appender = {.fixture = fixture, .count = 20};
    pthread_create(&appender.thread, NULL, append_many, &appender);
    while (atomic_load(&fixture->buffer.waiters) == 0)
        sched_yield(); /* four blocks of two appends each are full, the first incomplete */
    assert_false(atomic_load(&appender.done));
    assert_int_equal(fixture->kept_size, 0);

    if (jd_append_buffer_commit(&fixture->buffer, &slow))
        jd_append_buffer_flush(&fixture->buffer);
    pthread_join(appender.thread, NULL);
    jd_append_buffer_flush_all(&fixture->buffer, FUTEX_FOREVER);
    assert_int_equal(fixture->kept_size, 2100);
    assert_kept(fixture, 0, 100, 's');
    assert_kept(fixture, 100, 2000, 'z');
    free_fixture(fixture);
}

static void nobody_waits_for_the_holder_and_the_holder_takes_all(void **state)
{
    (void)state;
    struct fixture *fixture = make_fixture(true);
    atomic_store(&fixture->hold, 1);
    struct appender holder = {.fixture = fixture, .count = 1};
    pthread_create(&holder.thread, NULL, append_many, &holder);
    while (!atomic_load(&fixture->held))
        sched_yield();
    append(fixture, 10, 'a'); /* returns, although a flush is under way */
    append(fixture, 10, 'b');
    assert_int_equal(fixture->kept_size, 0);
    atomic_store(&fixture->hold, 0);
    pthread_join(holder.thread, NULL);
    /* The holder has handed over what came meanwhile, in one piece. */
    assert_int_equal(fixture->kept_size, 120);
    assert_int_equal(fixture->sink_calls, 2);
    free_fixture(fixture);
}

struct feeder {
    struct fixture *fixture;
    uint32_t size;
};

static void *append_as_wanted(void *argument)
{
    const struct feeder *feeder = argument;
    for (int i = 1; i <= FED; i++) {
        while (atomic_load(&feeder->fixture->wanted) < i)
            sched_yield();
        append(feeder->fixture, feeder->size, 'f');
        atomic_store(&feeder->fixture->appended, i);
    }
    return NULL;
}

static void a_thread_does_not_write_for_others_for_ever(bool eager, uint32_t size)
{
    struct fixture *fixture = make_fixture(eager);
    struct feeder feeder = {fixture, size};
    pthread_t thread;
    pthread_create(&thread, NULL, append_as_wanted, &feeder);
    is_fed = true;
    append(fixture, size, 'a');
    append(fixture, size, 'a'); /* completes the first one's block, where the buffer is lazy */
    is_fed = false;
    const int fed_writes = fixture->fed_writes;
    atomic_store(&fixture->wanted, FED);
    pthread_join(thread, NULL);

    /* Of each append: its share, and then what was complete; the other thread came last. */
    assert_in_range(fed_writes, 1, 2 * (2 * APPEND_BUFFER_BLOCKS + 1));
    assert_false(jd_append_buffer_has_complete(&fixture->buffer));
    assert_true(!eager || jd_append_buffer_is_empty(&fixture->buffer));
    jd_append_buffer_flush_all(&fixture->buffer, FUTEX_FOREVER);
    assert_int_equal(fixture->kept_size, (FED + 2) * size);
    free_fixture(fixture);
}

static void an_eager_buffer_starves_nobody(void **state)
{
    (void)state;
    a_thread_does_not_write_for_others_for_ever(true, 10);
}

static void a_lazy_buffer_starves_nobody(void **state)
{
    (void)state;
    a_thread_does_not_write_for_others_for_ever(false, BLOCK_SIZE);
}

/* The holder may be the thread that a signal handler has interrupted. */
static void who_must_not_wait_waits_for_no_turn(void **state)
{
    (void)state;
    struct fixture *fixture = make_fixture(false);
    append(fixture, 10, 'a');
    jd_append_buffer_seal(&fixture->buffer);
    atomic_store(&fixture->buffer.flag, APPEND_FLAG_OFFERED);
    jd_append_buffer_try_flush(&fixture->buffer);
    assert_false(jd_append_buffer_flush_all(&fixture->buffer, 1000000));
    assert_int_equal(atomic_load(&fixture->buffer.flag), APPEND_FLAG_OFFERED);
    free_fixture(fixture);
}

static void a_reset_forgets_bytes_and_goes_on_with_the_indices(void **state)
{
    (void)state;
    struct fixture *fixture = make_fixture(false);
    struct append_reservation lost;
    append(fixture, 10, 'a');
    /* Of threads that the child has not. */
    jd_append_buffer_reserve(&fixture->buffer, 10, &lost);
    jd_append_buffer_reserve_oversize(&fixture->buffer, &lost);
    atomic_store(&fixture->buffer.flag, APPEND_FLAG_HELD);
    jd_append_buffer_reset(&fixture->buffer);
    assert_true(jd_append_buffer_is_empty(&fixture->buffer));
    const struct append_reservation after = append(fixture, 10, 'b');
    assert_true(after.index > lost.index);
    struct append_reservation oversize;
    jd_append_buffer_reserve_oversize(&fixture->buffer, &oversize);
    jd_append_buffer_commit_oversize(&fixture->buffer, &oversize,
                                     &(struct iovec){(char[]){'c', 'c'}, 2}, 1);
    assert_true(jd_append_buffer_flush_all(&fixture->buffer, FUTEX_FOREVER));
    assert_int_equal(fixture->kept_size, 12);
    assert_kept(fixture, 0, 10, 'b');
    assert_kept(fixture, 10, 2, 'c');
    free_fixture(fixture);
}

/* Generations are compared by differences: the counter may wrap. */
static void generations_may_wrap(void **state)
{
    (void)state;
    struct fixture *fixture = make_fixture(true);
    const uint32_t last = UINT32_MAX - 2;
    atomic_store(&fixture->buffer.cursor, append_cursor(last, 0));
    atomic_store(&fixture->buffer.flushed, last);
    for (int i = 0; i < 10; i++)
        append(fixture, 10, i);
    assert_true(jd_append_buffer_flush_all(&fixture->buffer, FUTEX_FOREVER));
    assert_int_equal(fixture->kept_size, 100);
    for (int i = 0; i < 10; i++)
        assert_kept(fixture, 10 * (size_t)i, 10, i);
    free_fixture(fixture);
}

enum { THREADS = 8, APPENDS = 3000 };

struct item {
    uint64_t timestamp;
    uint64_t index;
    uint32_t size;
    uint32_t thread;
};

static void *append_items(void *argument)
{
    struct appender *appender = argument;
    struct fixture *fixture = appender->fixture;
    for (uint32_t i = 0; i < APPENDS; i++) {
        struct append_reservation reservation;
        struct item item = {.thread = (uint32_t)appender->count, .size = sizeof(item) + i % 60};
        unsigned char oversize[600];
        const bool is_oversize = i % 97 == 0;
        if (is_oversize) {
            item.size = sizeof(oversize);
            jd_append_buffer_reserve_oversize(&fixture->buffer, &reservation);
            reservation.bytes = oversize;
        } else {
            jd_append_buffer_reserve(&fixture->buffer, item.size, &reservation);
        }
        item.timestamp = reservation.timestamp;
        item.index = reservation.index;
        memset(reservation.bytes, (int)item.thread, item.size);
        memcpy(reservation.bytes, &item, sizeof(item));
        if (is_oversize) {
            const struct iovec bytes = {oversize, item.size};
            jd_append_buffer_commit_oversize(&fixture->buffer, &reservation, &bytes, 1);
        } else if (jd_append_buffer_commit(&fixture->buffer, &reservation) ||
                   fixture->buffer.eager) {
            jd_append_buffer_flush(&fixture->buffer);
        }
        if (i % 500 == 0)
            jd_append_buffer_flush_all(&fixture->buffer, FUTEX_FOREVER);
    }
    return NULL;
}

static void threads_keep_one_order(bool eager)
{
    struct fixture *fixture = make_fixture(eager);
    struct appender appenders[THREADS];
    for (int i = 0; i < THREADS; i++) {
        appenders[i] = (struct appender){.fixture = fixture, .count = i};
        pthread_create(&appenders[i].thread, NULL, append_items, &appenders[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(appenders[i].thread, NULL);
    /* Whoever left a flush to another has been served by it. */
    assert_false(jd_append_buffer_has_complete(&fixture->buffer));
    assert_true(!eager || jd_append_buffer_is_empty(&fixture->buffer));
    jd_append_buffer_flush_all(&fixture->buffer, FUTEX_FOREVER);

    int counts[THREADS] = {0};
    struct item before = {0, 0, 0, 0};
    size_t at = 0;
    while (at < fixture->kept_size) {
        struct item item;
        memcpy(&item, fixture->kept + at, sizeof(item));
        assert_true(item.thread < THREADS);
        assert_kept(fixture, at + sizeof(item), item.size - sizeof(item), (int)item.thread);
        assert_true(item.timestamp >= before.timestamp);
        assert_true(item.index > before.index);
        counts[item.thread]++;
        before = item;
        at += item.size;
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(counts[i], APPENDS);
    free_fixture(fixture);
}

static void threads_keep_one_order_in_an_eager_buffer(void **state)
{
    (void)state;
    threads_keep_one_order(true);
}

static void threads_keep_one_order_in_a_lazy_buffer(void **state)
{
    (void)state;
    threads_keep_one_order(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_eager_buffer_hands_over_each_append),
        cmocka_unit_test(a_lazy_buffer_hands_over_whole_blocks),
        cmocka_unit_test(a_block_too_small_for_the_next_append_is_ended_without_padding),
        cmocka_unit_test(indices_ascend_and_times_do_not_descend),
        cmocka_unit_test(an_oversize_append_takes_its_turn),
        cmocka_unit_test(bytes_wait_for_an_earlier_append_that_is_under_way),
        cmocka_unit_test(a_full_buffer_makes_appends_wait_and_loses_nothing),
        cmocka_unit_test(nobody_waits_for_the_holder_and_the_holder_takes_all),
        cmocka_unit_test(an_eager_buffer_starves_nobody),
        cmocka_unit_test(a_lazy_buffer_starves_nobody),
        cmocka_unit_test(who_must_not_wait_waits_for_no_turn),
        cmocka_unit_test(a_reset_forgets_bytes_and_goes_on_with_the_indices),
        cmocka_unit_test(generations_may_wrap),
        cmocka_unit_test(threads_keep_one_order_in_an_eager_buffer),
        cmocka_unit_test(threads_keep_one_order_in_a_lazy_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
