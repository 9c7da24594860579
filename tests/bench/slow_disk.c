/*
 * How long a jitdump_load takes in write-through mode where several threads load and each write
 * takes a while: the linker's --wrap has the library's writev wait WRITE_US before it writes.
 *
 * usage: slow_disk [-t THREADS] [-w WRITE_US] [-g GAP_US] [-n LOADS] DIRECTORY
 *
 * Each thread loads LOADS functions, GAP_US apart (0: one after the other). Prints quantiles of
 * a load's time over all threads, and how many writes there were.
 */
#define _GNU_SOURCE
#include "jitdump.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static unsigned long threads = 3, write_us = 2000, gap_us = 1000, loads = 2000;
static struct jitdump *dump;

struct load {
    double ms;
    unsigned long writes; /* by the thread that loads */
};

static _Atomic unsigned long writes;
static _Thread_local unsigned long own_writes;

static void check(int failed, const char *what)
{
    if (failed) {
        perror(what);
        exit(1);
    }
}

static void sleep_us(unsigned long us)
{
    const struct timespec time = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    nanosleep(&time, NULL);
}

ssize_t __real_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count);
ssize_t __wrap_writev(int fd, const struct iovec *bytes, int count)
{
    atomic_fetch_add(&writes, 1);
    own_writes++;
    sleep_us(write_us);
    return __real_writev(fd, bytes, count);
}

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

static void *load_all(void *argument)
{
    static const unsigned char code_bytes[64];
    static const struct jitdump_code code = {.struct_size = sizeof(code),
                                             .name = "function",
                                             .code_addr = 0x1000,
                                             .code_size = sizeof(code_bytes),
                                             .code_bytes = code_bytes};
    struct load *load = argument;
    for (unsigned long i = 0; i < loads; i++) {
        const double start = now_ms();
        own_writes = 0;
        check(jitdump_load(dump, &code, NULL) != 0, "jitdump_load");
        load[i] = (struct load){now_ms() - start, own_writes};
        if (gap_us != 0)
            sleep_us(gap_us);
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const struct load *x = a, *y = b;
    return (x->ms > y->ms) - (x->ms < y->ms);
}

int main(int argc, char **argv)
{
    for (int option; (option = getopt(argc, argv, "t:w:g:n:")) != -1;) {
        switch (option) {
        case 't': threads = strtoul(optarg, NULL, 10); break;
        case 'w': write_us = strtoul(optarg, NULL, 10); break;
        case 'g': gap_us = strtoul(optarg, NULL, 10); break;
        case 'n': loads = strtoul(optarg, NULL, 10); break;
        default: return 2;
        }
    }
    check(optind + 1 != argc || threads == 0 || loads == 0,
          "usage: slow_disk [-t THREADS] [-w WRITE_US] [-g GAP_US] [-n LOADS] DIRECTORY");
    const struct jitdump_options options = {.struct_size = sizeof(options),
                                            .flags = JITDUMP_UNLINK_AT_CLOSE,
                                            .directory = argv[optind]};
    check(jitdump_open(&dump, &options) != 0, "jitdump_open");
    const size_t count = threads * loads;
    struct load *const all = calloc(count, sizeof(*all));
    pthread_t *const started = calloc(threads, sizeof(*started));
    check(all == NULL || started == NULL, "calloc");
    const double start = now_ms();
    for (unsigned long i = 0; i < threads; i++)
        check(pthread_create(&started[i], NULL, load_all, all + i * loads) != 0, "pthread_create");
    for (unsigned long i = 0; i < threads; i++)
        pthread_join(started[i], NULL);
    const double total = now_ms() - start;
    const unsigned long written = atomic_load(&writes);
    check(jitdump_close(dump) != 0, "jitdump_close");
    qsort(all, count, sizeof(*all), compare);
    unsigned long most = 0;
    for (size_t i = 0; i < count; i++)
        most = all[i].writes > most ? all[i].writes : most;
    printf("p50 %.3f ms, p90 %.3f, p99 %.3f, max %.3f; %zu loads in %.0f ms, %lu writes, "
           "%lu at most in one load\n",
           all[count / 2].ms, all[count * 9 / 10].ms, all[count * 99 / 100].ms,
           all[count - 1].ms, count, total, written, most);
    free(all);
    free(started);
    return 0;
}
