/*
 * Appends from many threads, in processes that fork, and ends in many ways. The drivers in
 * Python run it, end it, and compare the files with its journals. With `--end close` it is a
 * test of its own: it checks what every call returns and the size of the file.
 *
 * With `--long-directory` it makes one dump after the other, each with the options of a line on
 * stdin, and says on stdout when one is closed; another dump, in that directory, is open all
 * the while.
 *
 * Exit status: 0 if every call did what it must; 1 otherwise, with a line on stderr; 77 if it
 * can't be tried in this build.
 */
#define _GNU_SOURCE
#include "jitdump.h"
#include "journal.h"
#include "settings.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_HEADER_SIZE 40
#define CLOSE_SIZE 16
#define SOURCE_RECORD_SIZE 24

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_thread_leaks=0"; /* a process that ends midway has threads */
}
#endif
#endif

static struct jitdump *dump;
static struct journal *journal;
static pthread_barrier_t barrier;
static struct workload_thread work[THREADS_MAX];

/* Each thread makes one append to the long dump for so many others. */
#define LONG_EVERY 16
static struct jitdump *long_dump;
static struct workload_thread long_work[THREADS_MAX];

/* What the sources have added to the file, and will add to a child's. */
static uint64_t source_bytes;
static _Atomic uint64_t flush_count;

_Noreturn static void fail(const char *what, int64_t result)
{
    fprintf(stderr, "stress: process %d: %s: %" PRId64 " (%s)\n", (int)getpid(), what, result,
            jitdump_strerror((int)result));
    _exit(1);
}

static void check(const char *what, int result)
{
    if (result != 0)
        fail(what, result);
}

static bool is_sticky(int error)
{
    return error <= JITDUMP_ERROR_DISK_FULL && error >= JITDUMP_ERROR_SIZE_LIMIT;
}

static void flush_with_journal(void)
{
    uint64_t snapshot[THREADS_MAX];
    journal_snapshot(journal, snapshot);
    check("jitdump_flush", jitdump_flush(dump));
    atomic_fetch_add(&flush_count, 1);
    journal_flushed(journal, snapshot);
}

/* After a sticky error the process goes on, and gets the same answer every time. */
static void check_sticky(struct workload_thread *thread, uint64_t sequence, int error)
{
    if (!is_sticky(error))
        fail("append", error);
    for (int i = 0; i < 100; i++) {
        uint64_t code_index;
        const int again = workload_append(thread, dump, sequence + (uint64_t)i, &code_index);
        if (again != error)
            fail("append after a sticky error", again);
    }
}

static uint64_t file_size(void)
{
    struct stat status;
    check("stat", stat(jitdump_path(dump), &status));
    return (uint64_t)status.st_size;
}

/* No append is under way. What the flush mode promises then must be in the file; if a wake-up was
 * lost, no later append makes up for it. */
static void check_all_written(void)
{
    uint64_t size = FILE_HEADER_SIZE + source_bytes;
    for (uint64_t i = 0; i < settings.threads; i++)
        size += work[i].file_bytes;
    if (settings.options.flush_mode == JITDUMP_FLUSH_BUFFERED)
        check("jitdump_flush", jitdump_flush(dump));
    if (settings.options.flush_mode == JITDUMP_FLUSH_BACKGROUND)
        while (file_size() < size)
            sched_yield();
    if (file_size() != size)
        fail("bytes that are not in the file", (int64_t)(size - file_size()));
}

/* A barrier that does not put to sleep: all leave it within a moment, so that their appends
 * really meet. */
static void wait_for_all(void)
{
    static _Atomic uint64_t arrived, round;
    const uint64_t this_round = atomic_load(&round);
    if (atomic_fetch_add(&arrived, 1) + 1 == settings.threads) {
        atomic_store(&arrived, 0);
        atomic_store(&round, this_round + 1);
    }
    while (atomic_load(&round) == this_round)
        sched_yield();
}

static void meet(const struct workload_thread *thread)
{
    wait_for_all();
    if (thread->number == 0)
        check_all_written();
    wait_for_all();
}

/* For handlers: a crash may have used up the thread's own. */
static void use_signal_stack(const struct workload_thread *thread)
{
    static unsigned char memory[THREADS_MAX][64 << 10];
    const stack_t stack = {.ss_sp = memory[thread->number], .ss_size = sizeof(memory[0])};
    check("sigaltstack", sigaltstack(&stack, NULL));
}

/* Timers hit the threads that append, and not the one that makes and joins them: there they
 * would find little but glibc and a sanitizer at work, and the thread sanitizer of clang 14
 * waits for itself when a handler runs where pthread_join() frees the thread. */
static void mask_timers(int how)
{
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    check("pthread_sigmask", pthread_sigmask(how, &alarm, NULL));
}

static void *append_all(void *argument)
{
    struct workload_thread *thread = argument;
    mask_timers(SIG_UNBLOCK);
    if (settings.end_after_us != 0)
        use_signal_stack(thread);
    /* All live at the same time, so that no tid is another's too. */
    pthread_barrier_wait(&barrier);
    for (uint64_t sequence = 0; sequence < settings.operations; sequence++) {
        uint64_t code_index;
        const int error = workload_append(thread, dump, sequence, &code_index);
        if (error != 0) {
            atomic_store(&journal->threads[thread->number].error, error);
            check_sticky(thread, sequence, error);
            break;
        }
        journal_returned(journal, thread->number, sequence, code_index);
        if (long_dump != NULL && sequence % LONG_EVERY == 0)
            check("append to the long dump",
                  workload_append(&long_work[thread->number], long_dump, sequence / LONG_EVERY,
                                  &code_index));
        /* Not all at the same time: a flush is to meet the others' appends. */
        if (settings.flush_every != 0 && (sequence + thread->number) % settings.flush_every == 0)
            flush_with_journal();
        if (settings.meet_every != 0 && (sequence + 1) % settings.meet_every == 0)
            meet(thread);
    }
    return NULL;
}

static void flush_in_handler(int signal_number)
{
    uint64_t snapshot[THREADS_MAX];
    journal_snapshot(journal, snapshot);
    const int result = jitdump_flush_from_signal(dump);
    if (result == 0)
        journal_flushed(journal, snapshot);
    atomic_store(&journal->signal_result, result);
    if (signal_number == SIGSEGV)
        signal(SIGSEGV, SIG_DFL); /* the instruction is executed anew, and kills */
}

static void handle(int signal_number)
{
    struct sigaction action = {.sa_handler = flush_in_handler,
                               .sa_flags = SA_RESTART | SA_ONSTACK};
    check("sigaction", sigaction(signal_number, &action, NULL));
}

static void set_timer(uint64_t first_us, uint64_t interval_us)
{
    const struct itimerval timer = {.it_value = {.tv_usec = (suseconds_t)first_us},
                                    .it_interval = {.tv_usec = (suseconds_t)interval_us}};
    check("setitimer", setitimer(ITIMER_REAL, &timer, NULL));
}

/* Timers are not inherited by children. */
static void start_signals(void)
{
    if (settings.signal_interval_us == 0)
        return;
    handle(SIGALRM);
    set_timer(settings.signal_interval_us, settings.signal_interval_us);
}

/* No call on the handle may come once it is being closed. */
static void stop_signals(void)
{
    set_timer(0, 0);
    signal(SIGALRM, SIG_IGN);
}

_Noreturn static void die_of_segv(void)
{
    handle(SIGSEGV);
    volatile char *page = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 1;
    fail("a store to a forbidden page returned", 0);
}

/* The file must have become as large as the appends say. */
static void check_file_size(const char *path, uint64_t size)
{
    struct stat status;
    const bool exists = stat(path, &status) == 0;
    if (exists != !(settings.options.flags & JITDUMP_UNLINK_AT_CLOSE))
        fail("the file is there, or not there, against the options", 0);
    if ((settings.options.flags & JITDUMP_EMPTY_AT_CLOSE) != 0)
        size = FILE_HEADER_SIZE;
    if (exists && (uint64_t)status.st_size != size) {
        fprintf(stderr, "stress: %s has %lld bytes, not %" PRIu64 "\n", path,
                (long long)status.st_size, size);
        _exit(1);
    }
}

static void close_dump(uint64_t appended_bytes)
{
    /* A child that has appended nothing has no file. */
    char *path = jitdump_path(dump) != NULL ? strdup(jitdump_path(dump)) : NULL;
    const int result = jitdump_close(dump);
    atomic_store(&journal->close_result, result);
    if (result != 0 && !is_sticky(result))
        fail("jitdump_close", result);
    if (result == 0 && path != NULL)
        check_file_size(path, FILE_HEADER_SIZE + source_bytes + appended_bytes + CLOSE_SIZE);
    free(path);
}

static void end_process(uint32_t end, uint64_t appended_bytes)
{
    switch ((enum end)end) {
    case END_CLOSE:
        close_dump(appended_bytes);
        return;
    case END_RETURN:
        return;
    case END_EXIT:
        exit(0);
    case END_FLUSH__EXIT:
        flush_with_journal();
        _exit(0);
    case END__EXIT:
        _exit(0);
    case END_SEGV:
        die_of_segv();
    case END_ABORT:
        handle(SIGABRT);
        abort();
    case END_PAUSE:
        for (;;)
            pause();
    }
}

static void end_in_handler(int signal_number)
{
    (void)signal_number;
    end_process(settings.end, 0);
}

static void start_the_end(void)
{
    if (settings.end_after_us == 0)
        return;
    const struct sigaction action = {.sa_handler = end_in_handler, .sa_flags = SA_ONSTACK};
    check("sigaction", sigaction(SIGALRM, &action, NULL));
    set_timer(settings.end_after_us, 0);
}

static int run_process(uint64_t generation);

/* Forks one child after the other while the threads are appending. */
static void fork_children(uint64_t generation, pid_t *children)
{
    const uint64_t distance = settings.fork_every != 0 ? settings.fork_every
                                                       : settings.operations / settings.children;
    for (uint64_t i = 0; i < settings.children; i++) {
        while (atomic_load(&journal->threads[0].returned) < i * distance &&
               atomic_load(&journal->threads[0].error) == 0)
            sched_yield();
        children[i] = fork();
        if (children[i] < 0)
            fail("fork", errno);
        if (children[i] == 0) {
            if (settings.child_operations != UINT64_MAX)
                settings.operations = settings.child_operations;
            exit(run_process(generation + 1));
        }
    }
}

static void wait_for(pid_t child)
{
    int status;
    pid_t result;
    do
        result = waitpid(child, &status, 0);
    while (result < 0 && errno == EINTR);
    if (result != child || status != 0)
        fail("a child ended with status", status);
}

static int run_process(uint64_t generation)
{
    pthread_t threads[THREADS_MAX];
    journal = journal_create(settings.journal_directory, settings.workload.seed,
                             settings.workload.code_size_max, settings.threads,
                             settings.operations);
    check("pthread_barrier_init", pthread_barrier_init(&barrier, NULL, (unsigned)settings.threads));
    mask_timers(SIG_BLOCK);
    start_signals();
    for (uint32_t i = 0; i < settings.threads; i++) {
        work[i] = (struct workload_thread){.workload = &settings.workload, .number = i};
        long_work[i] = work[i];
        check("pthread_create", pthread_create(&threads[i], NULL, append_all, &work[i]));
    }
    if (generation == 0) {
        puts("appending");
        fflush(stdout);
        start_the_end();
    }
    const bool forks = generation < settings.generations && settings.children > 0;
    pid_t *children = calloc((size_t)settings.children + 1, sizeof(*children));
    if (forks)
        fork_children(generation, children);
    uint64_t appended_bytes = 0;
    for (uint64_t i = 0; i < settings.threads; i++) {
        pthread_join(threads[i], NULL);
        appended_bytes += work[i].file_bytes;
    }
    for (uint64_t i = 0; forks && i < settings.children; i++)
        wait_for(children[i]);
    free(children);
    stop_signals();
    pthread_barrier_destroy(&barrier);
    end_process(generation == 0 ? settings.end : settings.child_end, appended_bytes);
    return 0;
}

/* A source's size is a multiple of 4 with its path, so that the record has no padding. */
static void embed_sources(void)
{
    static const char text[200000];
    source_bytes = 0;
    for (uint64_t i = 0; i < settings.sources; i++) {
        char path[] = "source0";
        path[6] = (char)('0' + i % 10);
        const uint64_t size = i * 50000 % sizeof(text);
        check("jitdump_embed_source", jitdump_embed_source(dump, path, text, size));
        if (settings.options.dialect != JITDUMP_DIALECT_PERF)
            source_bytes += SOURCE_RECORD_SIZE + sizeof(path) + size;
    }
}

static void run(void)
{
    uint32_t tier;
    settings.options.flags = (uint32_t)settings.flags;
    check("jitdump_open", jitdump_open(&dump, &settings.options));
    check("jitdump_add_tier", jitdump_add_tier(dump, "tier", JITDUMP_COLOR_BLUE, "Tier: ", &tier));
    embed_sources();
    run_process(0);
}

/* Gives back first what is free: else the process's memory tells in which order things were freed. */
static uint64_t allocated_bytes(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#if __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#endif
#endif
    return 0; /* not to be known */
}

/* Each line on stdin is a round: options that hold from there on. */
static void run_rounds(void)
{
    struct jitdump_options options = settings.options;
    options.directory = settings.long_directory;
    check("jitdump_open", jitdump_open(&long_dump, &options));
    char *const path = strdup(jitdump_path(long_dump));
    uint64_t long_bytes = 0;
    char line[1024];
    while (fgets(line, sizeof(line), stdin) != NULL) {
        char *words[64];
        int count = 0;
        for (char *word = strtok(line, " \n"); word != NULL && count < 64; word = strtok(NULL, " \n"))
            words[count++] = word;
        parse_arguments(count, words);
        run();
        journal_unmap(journal);
        check("jitdump_flush", jitdump_flush(long_dump));
        for (uint64_t i = 0; i < settings.threads; i++)
            long_bytes += long_work[i].file_bytes;
        printf("closed %" PRIu64 " %" PRIu64 "\n", atomic_exchange(&flush_count, 0),
               allocated_bytes());
        fflush(stdout);
    }
    check("jitdump_close", jitdump_close(long_dump));
    settings.options.flags = 0;
    check_file_size(path, FILE_HEADER_SIZE + long_bytes + CLOSE_SIZE);
    free(path);
}

int main(int argc, char **argv)
{
    parse_arguments(argc - 1, argv + 1);
    workload_init();
    if (settings.long_directory != NULL)
        run_rounds();
    else
        run();
    return 0;
}
