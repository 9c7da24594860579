/* The command: options, compiling threads, the tape. */
#define _GNU_SOURCE
#include "bf.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TAPE_SIZE (1 << 18)
#define THREADS_MAX 256

static const char usage[] =
    "Usage: bf [OPTION]... PROGRAM...\n"
    "Compiles Brainfuck programs to machine code and runs them, one after the other.\n"
    "\n"
    "  --jitdump      write jit-<pid>.dump, for perf and samply, to $JITDUMPDIR or\n"
    "                 the current directory\n"
    "  --flush MODE   when it is written: write-through (default), buffered, background\n"
    "  --move         move functions to other addresses while the program runs\n"
    "  --threads N    compile in N threads (default: 1)\n";

void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fputs("bf: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

void *allocate(void *old, size_t count, size_t size)
{
    void *memory = reallocarray(old, count, size);
    if (!memory)
        die("out of memory");
    return memory;
}

void check_dump(int error)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (error != 0 && !atomic_flag_test_and_set(&said))
        fprintf(stderr, "bf: the profile will be incomplete: %s\n", jitdump_strerror(error));
}

/* What the compiling threads share: functions are numbered through all programs. */
struct work {
    struct program *programs;
    uint32_t function_count;
    atomic_uint next;
};

static void *compile_functions(void *argument)
{
    struct work *work = argument;
    uint32_t number;
    while ((number = atomic_fetch_add(&work->next, 1)) < work->function_count) {
        struct program *program = work->programs;
        while (number >= program->function_count)
            number -= program++->function_count;
        compile(program, number);
    }
    return NULL;
}

static void compile_all(struct program *programs, int program_count, int thread_count)
{
    struct work work = { .programs = programs };
    for (int i = 0; i < program_count; i++)
        work.function_count += programs[i].function_count;
    pthread_t threads[THREADS_MAX];
    for (int i = 1; i < thread_count; i++) {
        int error = pthread_create(&threads[i], NULL, compile_functions, &work);
        if (error != 0)
            die("no thread: %s", strerror(error));
    }
    compile_functions(&work);
    for (int i = 1; i < thread_count; i++)
        pthread_join(threads[i], NULL);
}

static void output(uint8_t cell)
{
    putchar(cell);
}

static uint8_t input(void)
{
    int c = getchar();
    return c == EOF ? 0 : (uint8_t)c;
}

/* For the signal handler. */
static struct jitdump *dump;
static uint8_t *tape;
static sigjmp_buf left_tape;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    uint8_t *addr = info->si_addr;
    if (addr >= tape - SOURCE_MAX && addr < tape + TAPE_SIZE + SOURCE_MAX)
        siglongjmp(left_tape, 1);
    /* A bug of our own. The process dies of it on return, and the dump shall tell what it
     * was executing. */
    jitdump_flush_from_signal(dump);
    signal(number, SIG_DFL);
}

/* The tape between its guards. */
static void make_tape(void)
{
    uint8_t *memory = mmap(NULL, TAPE_SIZE + 2 * SOURCE_MAX, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        die("no memory for the tape: %s", strerror(errno));
    tape = memory + SOURCE_MAX;
    if (mprotect(tape, TAPE_SIZE, PROT_READ | PROT_WRITE) != 0)
        die("no memory for the tape: %s", strerror(errno));
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
    sigaction(SIGSEGV, &action, NULL);
}

static void run(struct program *program)
{
    bf_function *entry = (bf_function *)(uintptr_t)program->functions[0].code;
    if (sigsetjmp(left_tape, 1) != 0)
        die("%s: the program has left the tape", program->path);
    entry(tape, program);
    if (fflush(stdout) != 0)
        die("standard output: %s", strerror(errno));
    memset(tape, 0, TAPE_SIZE);
}

static uint32_t flush_mode(const char *name)
{
    static const char *const names[] = {
        [JITDUMP_FLUSH_WRITE_THROUGH] = "write-through",
        [JITDUMP_FLUSH_BUFFERED] = "buffered",
        [JITDUMP_FLUSH_BACKGROUND] = "background",
    };
    for (uint32_t mode = 0; mode < sizeof(names) / sizeof(*names); mode++)
        if (strcmp(name, names[mode]) == 0)
            return mode;
    die("unknown flush mode: %s", name);
}

static void open_dump(uint32_t mode)
{
    char message[512];
    struct jitdump_options options = {
        .struct_size = sizeof(options),
        .flush_mode = mode,
        .error_message = message,
        .error_message_size = sizeof(message),
    };
    if (jitdump_open(&dump, &options) != 0)
        die("%s", message);
}

int main(int argc, char **argv)
{
    enum { HELP, JITDUMP, FLUSH, MOVE, THREADS };
    static const struct option long_options[] = {
        { "help", no_argument, NULL, HELP },
        { "jitdump", no_argument, NULL, JITDUMP },
        { "flush", required_argument, NULL, FLUSH },
        { "move", no_argument, NULL, MOVE },
        { "threads", required_argument, NULL, THREADS },
        { 0 },
    };
    bool with_dump = false, moving = false;
    uint32_t mode = JITDUMP_FLUSH_WRITE_THROUGH;
    int thread_count = 1, option;

    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (option) {
        case HELP:
            fputs(usage, stdout);
            return 0;
        case JITDUMP:
            with_dump = true;
            break;
        case FLUSH:
            mode = flush_mode(optarg);
            break;
        case MOVE:
            moving = true;
            break;
        case THREADS:
            thread_count = atoi(optarg);
            if (thread_count < 1 || thread_count > THREADS_MAX)
                die("the number of threads must be from 1 to %d", THREADS_MAX);
            break;
        default:
            fputs(usage, stderr);
            return 2;
        }
    }
    int program_count = argc - optind;
    if (program_count == 0) {
        fputs(usage, stderr);
        return 2;
    }

    if (with_dump)
        open_dump(mode);
    struct program *programs = allocate(NULL, (size_t)program_count, sizeof(*programs));
    for (int i = 0; i < program_count; i++) {
        programs[i] = (struct program){
            .dump = dump, .output = output, .input = input, .enter = enter, .moving = moving
        };
        program_read(&programs[i], argv[optind + i]);
    }
    compile_all(programs, program_count, thread_count);
    make_tape();
    for (int i = 0; i < program_count; i++)
        run(&programs[i]);
    for (int i = 0; i < program_count; i++)
        program_free(&programs[i]);
    free(programs);
    check_dump(jitdump_close(dump));
    return 0;
}
