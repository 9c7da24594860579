/* The clocks, and what the kernel is asked about the TSC, with the kernel's answer faked
 * where this machine can give only one. */
#define _GNU_SOURCE
#include "temporary.h"

#include "buffer/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What perf_event_open is to do: 0, pass; above, fail with that errno. */
static int perf_errno;
/* What the event's page is to be: NULL, the kernel's. */
static void *perf_page;

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (number == SYS_perf_event_open && perf_errno != 0) {
        errno = perf_errno;
        return -1;
    }
    if (number == SYS_perf_event_open && perf_page != NULL)
        return dup(0);
    return __real_syscall(number, a, b, c, d, e, f);
}

void *__real_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (perf_page == MAP_FAILED) {
        errno = EPERM;
        return MAP_FAILED;
    }
    if (perf_page != NULL && fd >= 0)
        return perf_page;
    if (fd >= 0) /* the kernel's own event: what another thread starts meanwhile must not have it */
        assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    return __real_mmap(address, size, protection, flags, fd, offset);
}

static int reset(void **state)
{
    (void)state;
    perf_errno = 0;
    perf_page = NULL;
    return 0;
}

#if defined(__x86_64__) || defined(__aarch64__)
#define HAVE_TSC 1
#else
#define HAVE_TSC 0
#endif

static void monotonic_is_the_systems_clock_in_nanoseconds(void **state)
{
    (void)state;
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    const uint64_t now = jd_clock_now(JITDUMP_CLOCK_MONOTONIC);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(now >= (uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec);
    assert_true(now <= (uint64_t)after.tv_sec * 1000000000 + (uint64_t)after.tv_nsec);
    assert_int_equal(jd_clock_units(JITDUMP_CLOCK_MONOTONIC, 12345), 12345);
    assert_int_equal(jd_clock_check(JITDUMP_CLOCK_MONOTONIC, 0), 0);
}

static void the_tsc_goes_forward_at_one_rate(void **state)
{
    (void)state;
    if (!HAVE_TSC)
        skip();
    uint64_t before = jd_clock_now(JITDUMP_CLOCK_TSC);
    for (int i = 0; i < 100000; i++) {
        const uint64_t now = jd_clock_now(JITDUMP_CLOCK_TSC);
        assert_true(now >= before);
        before = now;
    }
    /* Two measurements of the rate agree; loosely, for a loaded machine. */
    const double first = (double)jd_clock_units(JITDUMP_CLOCK_TSC, 1000000000);
    const double second = (double)jd_clock_units(JITDUMP_CLOCK_TSC, 1000000000);
    assert_true(first > 0);
    assert_true(second > first / 2 && second < first * 2);
    assert_int_equal(jd_clock_units(JITDUMP_CLOCK_TSC, 0), 0);
}

static void the_kernels_answer_decides_about_the_tsc(void **state)
{
    (void)state;
    if (!HAVE_TSC) {
        assert_int_equal(jd_clock_check(JITDUMP_CLOCK_TSC, 0), JITDUMP_ERROR_CLOCK_UNSUPPORTED);
        assert_int_equal(jd_clock_check(JITDUMP_CLOCK_TSC, 1), JITDUMP_ERROR_CLOCK_UNSUPPORTED);
        skip();
    }
    /* The kernel's own, whatever it is here. */
    const int here = jd_clock_check(JITDUMP_CLOCK_TSC, 0);
    assert_true(here == 0 || here == JITDUMP_ERROR_CLOCK_NO_CONVERSION ||
                here == JITDUMP_ERROR_CLOCK_NOT_PERMITTED);

    static const struct {
        int error_number;
        int error;
    } refusals[] = {{EPERM, JITDUMP_ERROR_CLOCK_NOT_PERMITTED},
                    {EACCES, JITDUMP_ERROR_CLOCK_NOT_PERMITTED},
                    {ENOSYS, JITDUMP_ERROR_CLOCK_NOT_PERMITTED},
                    {EMFILE, JITDUMP_ERROR_TOO_MANY_FILES},
                    {ENFILE, JITDUMP_ERROR_TOO_MANY_FILES}};
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        perf_errno = refusals[i].error_number;
        assert_int_equal(jd_clock_check(JITDUMP_CLOCK_TSC, 0), refusals[i].error);
        assert_int_equal(jd_clock_check(JITDUMP_CLOCK_TSC, 1), 0); /* forced: not asked */
    }
    perf_errno = 0;
    perf_page = MAP_FAILED;
    assert_int_equal(jd_clock_check(JITDUMP_CLOCK_TSC, 0), JITDUMP_ERROR_CLOCK_NOT_PERMITTED);
}

/* A page with these capabilities, at their offset in the kernel's header; it is unmapped
 * by the code under test. */
static int check_with_capabilities(uint64_t capabilities)
{
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t *page =
        __real_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[5] = capabilities;
    perf_page = page;
    return jd_clock_check(JITDUMP_CLOCK_TSC, 0);
}

static void the_capability_is_the_fifth_bit(void **state)
{
    (void)state;
    if (!HAVE_TSC)
        skip();
    const int descriptors = count_descriptors();
    assert_int_equal(check_with_capabilities(1 << 4), 0);
    assert_int_equal(check_with_capabilities(0), JITDUMP_ERROR_CLOCK_NO_CONVERSION);
    assert_int_equal(check_with_capabilities(~(uint64_t)(1 << 4)),
                     JITDUMP_ERROR_CLOCK_NO_CONVERSION);
    assert_int_equal(count_descriptors(), descriptors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(monotonic_is_the_systems_clock_in_nanoseconds, reset),
        cmocka_unit_test_setup(the_tsc_goes_forward_at_one_rate, reset),
        cmocka_unit_test_setup(the_kernels_answer_decides_about_the_tsc, reset),
        cmocka_unit_test_setup(the_capability_is_the_fifth_bit, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
