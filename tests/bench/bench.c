/*
 * The benchmark: every way of writing a jitdump, in one run.
 *
 * usage: bench [-r ROUNDS] [-b BYTES] [-t THREADS]... [-s CODE_SIZE]... [-d DESCRIPTION]...
 *              [-w WRITER] DIRECTORY...
 *
 * For each directory, number of threads, code size and description (none, lines, inlining):
 * ROUNDS rounds, and in each round every writer once, so that what disturbs the machine disturbs
 * all alike. A writer's turn is two passes over new files of about BYTES bytes: one
 * that times each append, and one that only takes the total, undisturbed by timing.
 *
 * The result is JSON on standard output, one object per row with all its rounds; report.py
 * makes tables and a plot of it.
 */
#define _GNU_SOURCE
#include "code.h"
#include "writers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CHOICES_MAX = 8 };

/* Some processors' counter goes in steps of 10 ns. So p50 is that of so many appends in a row,
 * divided by their number; few enough that at 4 KiB most have no full block among them. */
enum { IN_A_ROW = 4 };

struct choices {
    unsigned long values[CHOICES_MAX];
    size_t count;
};

static unsigned long rounds = 5;
static unsigned long bytes_per_pass = 8 << 20;

/* The cheapest clock for single appends; its unit is measured. */
static uint64_t tick(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
#endif
}

static double seconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double ticks_per_ns(void)
{
    const double start = seconds(CLOCK_MONOTONIC);
    const uint64_t start_ticks = tick();
    while (seconds(CLOCK_MONOTONIC) < start + 0.05)
        continue;
    return (double)(tick() - start_ticks) / ((seconds(CLOCK_MONOTONIC) - start) * 1e9);
}

/* How many write calls the process has made. */
static unsigned long long count_writes(void)
{
    unsigned long long writes = 0;
    FILE *file = fopen("/proc/self/io", "r");
    check(file == NULL, "/proc/self/io");
    for (char line[128]; fgets(line, sizeof(line), file) != NULL;)
        sscanf(line, "syscw: %llu", &writes);
    fclose(file);
    return writes;
}

struct pass {
    const struct writer *writer;
    const char *directory;
    const struct jitdump_code *code;
    unsigned long threads;
    unsigned long records; /* of each thread */
    uint64_t *ticks;       /* all threads' appends; NULL: untimed */

    void *state;
    pthread_barrier_t barrier;

    double wall;
    double cpu;
    unsigned long long writes;
    unsigned long long bytes;
};

struct appender {
    struct pass *pass;
    uint64_t *ticks;
    pthread_t thread;
};

static void *append_all(void *argument)
{
    const struct appender *appender = argument;
    struct pass *pass = appender->pass;
    void (*const append)(void *, const struct jitdump_code *) = pass->writer->append;
    pthread_barrier_wait(&pass->barrier);
    if (appender->ticks == NULL) {
        for (unsigned long i = 0; i < pass->records; i++)
            append(pass->state, pass->code);
    } else {
        uint64_t before = tick();
        for (unsigned long i = 0; i < pass->records; i++) {
            append(pass->state, pass->code);
            const uint64_t after = tick();
            appender->ticks[i] = after - before;
            before = after;
        }
    }
    if (pass->writer->finish_thread != NULL)
        pass->writer->finish_thread(pass->state);
    return NULL;
}

/* The total is from the first append to the file's being complete and closed. */
static void run_pass(struct pass *pass)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/jit-%d.dump", pass->directory, (int)getpid());
    pass->state = pass->writer->open(pass->directory);
    pthread_barrier_init(&pass->barrier, NULL, (unsigned)pass->threads + 1);
    struct appender appenders[64];
    for (unsigned long i = 0; i < pass->threads; i++) {
        appenders[i] = (struct appender){
            .pass = pass, .ticks = pass->ticks == NULL ? NULL : pass->ticks + i * pass->records};
        check(pthread_create(&appenders[i].thread, NULL, append_all, &appenders[i]) != 0,
              "pthread_create");
    }
    const unsigned long long writes = count_writes();
    const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    pthread_barrier_wait(&pass->barrier);
    for (unsigned long i = 0; i < pass->threads; i++)
        pthread_join(appenders[i].thread, NULL);
    pass->writer->close(pass->state);
    pass->wall = seconds(CLOCK_MONOTONIC) - wall;
    pass->cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    pass->writes = count_writes() - writes;
    pthread_barrier_destroy(&pass->barrier);
    struct stat status;
    check(stat(path, &status) != 0, path);
    pass->bytes = (unsigned long long)status.st_size;
    check(unlink(path) != 0, path);
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double quantile(const uint64_t *sorted, size_t count, double fraction, double per_ns)
{
    return (double)sorted[(size_t)(fraction * (double)(count - 1))] / per_ns;
}

/* Of appends in a row; `ticks` is overwritten. */
static double median_in_a_row(uint64_t *ticks, size_t count, double per_ns)
{
    const size_t rows = count / IN_A_ROW;
    for (size_t i = 0; i < rows; i++) {
        uint64_t sum = 0;
        for (size_t j = 0; j < IN_A_ROW; j++)
            sum += ticks[i * IN_A_ROW + j];
        ticks[i] = sum;
    }
    qsort(ticks, rows, sizeof(*ticks), compare);
    return quantile(ticks, rows, 0.5, per_ns) / IN_A_ROW;
}

struct result {
    double total, cpu, p50, p99, p999, max, writes, bytes;
};

static struct result run_writer(struct pass *pass, double per_ns)
{
    const size_t count = pass->threads * pass->records;
    uint64_t *const ticks = malloc(count * sizeof(*ticks));
    check(ticks == NULL, "malloc");
    memset(ticks, 0, count * sizeof(*ticks)); /* no page faults while timing */
    pass->ticks = ticks;
    run_pass(pass);
    uint64_t *const copy = malloc(count * sizeof(*copy));
    check(copy == NULL, "malloc");
    memcpy(copy, ticks, count * sizeof(*copy));
    qsort(copy, count, sizeof(*copy), compare);
    struct result result = {.p99 = quantile(copy, count, 0.99, per_ns),
                            .p999 = quantile(copy, count, 0.999, per_ns),
                            .max = quantile(copy, count, 1, per_ns)};
    free(copy);
    result.p50 = median_in_a_row(ticks, count, per_ns);
    free(ticks);
    pass->ticks = NULL;
    run_pass(pass);
    result.total = pass->wall * 1e9 / (double)count;
    result.cpu = pass->cpu * 1e9 / (double)count;
    result.writes = (double)pass->writes / (double)count;
    result.bytes = (double)pass->bytes;
    return result;
}

static void print_row(const struct pass *pass, const char *description,
                      const struct result *results)
{
    static bool started;
    printf("%s{\"directory\": \"%s\", \"threads\": %lu, \"code_size\": %llu, "
           "\"description\": \"%s\", \"writer\": \"%s\", \"records\": %lu, \"rounds\": [",
           started ? ",\n" : "", pass->directory, pass->threads,
           (unsigned long long)pass->code->code_size, description, pass->writer->name,
           pass->threads * pass->records);
    started = true;
    for (unsigned long i = 0; i < rounds; i++) {
        const struct result *r = &results[i];
        printf("%s{\"total_ns\": %.2f, \"cpu_ns\": %.2f, \"p50_ns\": %.2f, \"p99_ns\": %.2f, "
               "\"p999_ns\": %.2f, \"max_ns\": %.2f, \"writes\": %.5f, \"bytes\": %.0f}",
               i == 0 ? "" : ", ", r->total, r->cpu, r->p50, r->p99, r->p999, r->max, r->writes,
               r->bytes);
    }
    printf("]}");
    fflush(stdout);
}

static bool takes_part(const struct writer *writer, enum description description, const char *only)
{
    return (description != DESCRIPTION_INLINING || writer->inlining) &&
           (only == NULL || strcmp(only, writer->name) == 0);
}

static void run_cell(const char *directory, unsigned long threads, unsigned long size,
                     enum description description, const char *only, double per_ns)
{
    struct jitdump_code *const code = code_make(size, description);
    const unsigned long all = bytes_per_pass / writers_prepare(directory, code);
    struct pass pass = {.directory = directory,
                        .code = code,
                        .threads = threads,
                        .records = (all / threads / IN_A_ROW + 1) * IN_A_ROW};
    struct result *const results = calloc(writer_count * rounds, sizeof(*results));
    check(results == NULL, "calloc");
    for (unsigned long round = 0; round < rounds; round++) {
        for (size_t i = 0; i < writer_count; i++) {
            const size_t turn = (i + round) % writer_count;
            pass.writer = &writers[turn];
            if (takes_part(pass.writer, description, only))
                results[turn * rounds + round] = run_writer(&pass, per_ns);
        }
    }
    for (size_t i = 0; i < writer_count; i++) {
        pass.writer = &writers[i];
        if (takes_part(pass.writer, description, only))
            print_row(&pass, description_names[description], &results[i * rounds]);
    }
    free(results);
    code_free(code);
}

static void choose(struct choices *choices, const char *text)
{
    check(choices->count == CHOICES_MAX, "too many choices");
    choices->values[choices->count++] = strtoul(text, NULL, 10);
}

static void choose_description(struct choices *choices, const char *name)
{
    for (unsigned long i = 0; i < DESCRIPTIONS; i++) {
        if (strcmp(description_names[i], name) == 0 && choices->count < CHOICES_MAX)
            choices->values[choices->count++] = i;
    }
    check(choices->count == 0, name);
}

int main(int argc, char **argv)
{
    struct choices threads = {.count = 0}, sizes = {.count = 0}, descriptions = {.count = 0};
    const char *only = NULL;
    for (int option; (option = getopt(argc, argv, "r:b:t:s:d:w:")) != -1;) {
        switch (option) {
        case 'r': rounds = strtoul(optarg, NULL, 10); break;
        case 'b': bytes_per_pass = strtoul(optarg, NULL, 10); break;
        case 't': choose(&threads, optarg); break;
        case 's': choose(&sizes, optarg); break;
        case 'd': choose_description(&descriptions, optarg); break;
        case 'w': only = optarg; break;
        default: return 2;
        }
    }
    if (optind == argc || rounds == 0) {
        fprintf(stderr, "usage: bench [-r ROUNDS] [-b BYTES] [-t THREADS]... [-s CODE_SIZE]... "
                        "[-d DESCRIPTION]... [-w WRITER] DIRECTORY...\n");
        return 2;
    }
    if (threads.count == 0)
        threads = (struct choices){{1, 2, 8, 32}, 4};
    if (sizes.count == 0)
        sizes = (struct choices){{64, 512, 4096, 65536}, 4};
    if (descriptions.count == 0)
        descriptions = (struct choices){
            {DESCRIPTION_NONE, DESCRIPTION_LINES, DESCRIPTION_INLINING}, DESCRIPTIONS};

    const double per_ns = ticks_per_ns();
    printf("{\"processors\": %ld, \"rows\": [\n", sysconf(_SC_NPROCESSORS_ONLN));
    for (int i = optind; i < argc; i++)
        for (size_t t = 0; t < threads.count; t++)
            for (size_t d = 0; d < descriptions.count; d++)
                for (size_t s = 0; s < sizes.count; s++)
                    run_cell(argv[i], threads.values[t], sizes.values[s],
                             (enum description)descriptions.values[d], only, per_ns);
    printf("\n]}\n");
    return 0;
}
