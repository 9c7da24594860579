#include "../platform/c_library.h"

#include "clock.h"

#include <time.h>

static uint64_t monotonic_ns(void)
{
#if defined(__APPLE__)
    return clock_gettime_nsec_np(CLOCK_UPTIME_RAW); /* samply's (S17) */
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

/* The processor may read its counter before earlier, or after later, instructions
 * unless it is told not to. The append buffer needs the reading to lie between the
 * load before it and the compare-and-swap after it.
 * On Linux alone: it is perf that reads such times. */
#if defined(__linux__) && defined(__x86_64__)
#define HAVE_TSC 1
static uint64_t tsc(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}
#elif defined(__linux__) && defined(__aarch64__)
#define HAVE_TSC 1
static uint64_t tsc(void)
{
    uint64_t value;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(value) : : "memory");
    return value;
}
#else
#define HAVE_TSC 0
static uint64_t tsc(void)
{
    return 0; /* never asked: jd_clock_check() refuses */
}
#endif

uint64_t jd_clock_now(enum jitdump_clock clock)
{
    return clock == JITDUMP_CLOCK_TSC ? tsc() : monotonic_ns();
}

#if HAVE_TSC

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The parts of linux/perf_event.h that are needed, because a C library need not ship
 * that header: the first published size of perf_event_attr, and the head of the
 * page that the kernel shares for an event. */
struct perf_attr {
    uint32_t type;
    uint32_t size;
    uint64_t config;
    uint64_t sample_period;
    uint64_t sample_type;
    uint64_t read_format;
    uint64_t flags;
    uint32_t wakeup_events;
    uint32_t bp_type;
    uint64_t bp_addr;
};
_Static_assert(sizeof(struct perf_attr) == 64, "PERF_ATTR_SIZE_VER0");

struct perf_page {
    uint32_t version;
    uint32_t compat_version;
    uint32_t lock;
    uint32_t index;
    int64_t offset;
    uint64_t time_enabled;
    uint64_t time_running;
    uint64_t capabilities;
};

enum {
    PERF_TYPE_SOFTWARE = 1,
    PERF_COUNT_SW_DUMMY = 9,
    PERF_FLAG_EXCLUDE_KERNEL = 1 << 5,
    PERF_FLAG_EXCLUDE_HV = 1 << 6,
    PERF_FLAG_FD_CLOEXEC = 1 << 3 /* of the call, not of its perf_attr */
};
/* A bit-field in the kernel's header, whose bits lie from the other end on big-endian
 * machines; those have no HAVE_TSC. */
#define CAP_USER_TIME_ZERO (UINT64_C(1) << 4)

/* Whether the kernel tells perf how to convert the counter. */
static int ask_kernel(void)
{
    const struct perf_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_SW_DUMMY,
                                   .flags = PERF_FLAG_EXCLUDE_KERNEL | PERF_FLAG_EXCLUDE_HV};
    const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
                                (unsigned long)PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        return errno == EMFILE || errno == ENFILE ? JITDUMP_ERROR_TOO_MANY_FILES
               : errno == ENOMEM                  ? JITDUMP_ERROR_NO_MEMORY
                                                  : JITDUMP_ERROR_CLOCK_NOT_PERMITTED;
    }
    const size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    struct perf_page *page = mmap(NULL, page_size, PROT_READ, MAP_SHARED, fd, 0);
    int error;
    if (page == MAP_FAILED) {
        error = errno == ENOMEM ? JITDUMP_ERROR_NO_MEMORY : JITDUMP_ERROR_CLOCK_NOT_PERMITTED;
    } else {
        error = page->capabilities & CAP_USER_TIME_ZERO ? 0 : JITDUMP_ERROR_CLOCK_NO_CONVERSION;
        munmap(page, page_size);
    }
    close(fd);
    return error;
}

#endif

int jd_clock_check(enum jitdump_clock clock, int force)
{
    if (clock == JITDUMP_CLOCK_MONOTONIC)
        return 0;
#if HAVE_TSC
    return force ? 0 : ask_kernel();
#else
    (void)force;
    return JITDUMP_ERROR_CLOCK_UNSUPPORTED;
#endif
}

uint64_t jd_clock_units(enum jitdump_clock clock, uint64_t ns)
{
    if (clock == JITDUMP_CLOCK_MONOTONIC)
        return ns;
    /* Measured against the other clock for a moment: exact enough for an interval, and
     * the same on every processor that has such a counter. */
    const uint64_t start_ns = monotonic_ns();
    const uint64_t start_ticks = tsc();
    uint64_t elapsed_ns;
    do {
        elapsed_ns = monotonic_ns() - start_ns;
    } while (elapsed_ns < 100000);
    const double ticks_per_ns = (double)(tsc() - start_ticks) / (double)elapsed_ns;
    const double units = (double)ns * ticks_per_ns;
    return units < (double)UINT64_MAX ? (uint64_t)units : UINT64_MAX;
}
