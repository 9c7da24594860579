#define _GNU_SOURCE
#include "scenarios.h"

#include "jitdump.h"
#include "making.h"
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FLUSH_BYTES = 4096, BIG = 10000, POSITIONS = 5000, EM_X86_64 = 62, THREADS = 3 };

/* No error has this number, which errno holds before each step. */
#define UNTOUCHED 999

static struct report *report;
static struct jitdump *dump;
static const char *directory;
static uint32_t flush_mode;

static pthread_mutex_t steps_lock = PTHREAD_MUTEX_INITIALIZER;

static void check_conditions(const char *step)
{
    for (int i = 0; i < report->condition_count; i++)
        condition_after(&report->conditions[i], step, dump_path(directory));
}

static int end_step(const char *name, const char *more, int result)
{
    if (errno != UNTOUCHED)
        problem("errno is %d after %s", errno, name);
    pthread_mutex_lock(&steps_lock);
    if (report->step_count == STEPS_MAX)
        abort();
    struct step *const step = &report->steps[report->step_count];
    snprintf(step->name, sizeof(step->name), "%s%s", name, more);
    step->result = result;
    report->step_count++;
    pthread_mutex_unlock(&steps_lock);
    check_conditions(name);
    return result;
}

/* A call that has failed without putting the dump out of use is made once more. */
#define STEP(name, call)                                                                           \
    do {                                                                                           \
        errno = UNTOUCHED;                                                                         \
        int result_ = end_step(name, "", call);                                                    \
        if (result_ == JITDUMP_ERROR_NO_MEMORY || result_ == JITDUMP_ERROR_SOURCE_FILE) {          \
            errno = UNTOUCHED;                                                                     \
            end_step(name, " again", call);                                                        \
        }                                                                                          \
    } while (0)

static bool try_to_open(const char *step, struct jitdump_options options)
{
    char message[512];
    options.struct_size = sizeof(options);
    options.flush_mode = flush_mode;
    options.flush_bytes = FLUSH_BYTES;
    options.flush_interval_ns = UINT64_C(3600000000000);
    options.elf_mach = EM_X86_64;
    options.directory = directory;
    options.error_message = message;
    options.error_message_size = sizeof(message);
    errno = UNTOUCHED;
    const int error = end_step(step, "", jitdump_open(&dump, &options));
    const bool warns = options.dialect == JITDUMP_DIALECT_SAMPLY_2023;
    if ((error != 0 || warns) != (message[0] != '\0'))
        problem("the message of error %d is '%s'", error, message);
    if ((error == 0) != (dump != NULL))
        problem("error %d, but the handle is %p", error, (void *)dump);
    making_check_message(error, message,
                         options.descriptor != 0 ? "descriptor " : strrchr(directory, '/'));
    return error == 0;
}

static void close_dump(void)
{
    errno = UNTOUCHED;
    end_step("close", "", jitdump_close(dump));
    dump = NULL;
}

/* Functions. fault_contents.py knows what their bytes are. */
static unsigned char *code_of(const char *name, size_t size)
{
    static _Thread_local unsigned char code[BIG];
    unsigned seed = 0;
    for (const char *c = name; *c != '\0'; c++)
        seed += (unsigned char)*c;
    for (size_t i = 0; i < size; i++)
        code[i] = (unsigned char)(seed + 7 * i);
    return code;
}

static struct jitdump_code function(const char *name, uint64_t code_addr, size_t size)
{
    return (struct jitdump_code){.struct_size = sizeof(struct jitdump_code),
                                 .name = name,
                                 .code_addr = code_addr,
                                 .code_size = size,
                                 .code_bytes = code_of(name, size)};
}

static uint64_t load(const char *name, uint64_t code_addr, size_t size)
{
    char step[64];
    uint64_t index = 0;
    const struct jitdump_code code = function(name, code_addr, size);
    snprintf(step, sizeof(step), "load %s", name);
    STEP(step, jitdump_load(dump, &code, &index));
    return index;
}

/* After an open that has failed: nothing of it is in the way. */
static void open_again(struct jitdump_options options)
{
    faults_end();
    if (!try_to_open("open again", options))
        return;
    load("after", 0x1000, 64);
    close_dump();
}

/* A failure ends the run. */
static bool open_dump(struct jitdump_options options)
{
    struct making making;
    making_begins(&making, directory);
    if (try_to_open("open", options))
        return true;
    if (faults_planned()) { /* the kernel's own can't be ended */
        making_failed(&making, 0);
        open_again(options);
    }
    return false;
}

static void load_with_lines(const char *name, uint32_t tier)
{
    const struct jitdump_line lines[] = {{0x2000, 1, 1, "a.js"}, {0x2010, 2, 0, "file.js"}};
    struct jitdump_code code = function(name, 0x2000, 64);
    code.lines = lines;
    code.line_count = 2;
    code.tier = tier;
    STEP("load lines", jitdump_load(dump, &code, NULL));
}

static void load_with_unwinding(const char *name)
{
    const struct jitdump_unwind unwind = {.struct_size = sizeof(unwind),
                                          .frame = JITDUMP_FRAME_POINTER};
    struct jitdump_code code = function(name, 0x3000, 64);
    code.unwind = &unwind;
    STEP("load unwind", jitdump_load(dump, &code, NULL));
}

/* Three functions of 64 bytes, and the .eh_frame section that they have in common. */
enum { MANY = 3, MANY_ADDR = 0x20000, MANY_DISTANCE = 0x1000 };

static const struct {
    uint32_t length, id;
    /* Version, "zR", code and data alignment, return address; FDE addresses are absolute. CFA = rsp + 8,
     * the return address at CFA - 8. */
    unsigned char cie[16];
    struct {
        uint32_t length, cie_pointer;
        uint64_t address, size;
        unsigned char rest[8];
    } fdes[MANY];
} section = {20,
             0,
             {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x00, 0x0c, 7, 8, 0x90, 1, 0, 0},
             {{28, 28, MANY_ADDR, 64, {0}},
              {28, 60, MANY_ADDR + MANY_DISTANCE, 64, {0}},
              {28, 92, MANY_ADDR + 2 * MANY_DISTANCE, 64, {0}}}};

static void give_section(struct jitdump_code *code)
{
    code->eh_frame = &section;
    code->eh_frame_size = sizeof(section);
}

static void load_out_of_section(const char *name)
{
    struct jitdump_code code = function(name, MANY_ADDR, 64);
    give_section(&code);
    STEP("load section", jitdump_load(dump, &code, NULL));
}

static void load_many(bool with_section)
{
    static const char *const names[MANY] = {"many1", "many2", "many3"};
    unsigned char bytes[MANY][64];
    struct jitdump_code codes[MANY];
    uint64_t indices[MANY];
    for (int i = 0; i < MANY; i++) {
        codes[i] = function(names[i], (uint64_t)(MANY_ADDR + i * MANY_DISTANCE), sizeof(bytes[i]));
        codes[i].code_bytes = memcpy(bytes[i], codes[i].code_bytes, sizeof(bytes[i]));
        if (with_section)
            give_section(&codes[i]);
    }
    errno = UNTOUCHED;
    const int result = jitdump_load_many(dump, codes, MANY, indices);
    for (int i = 0; i < MANY; i++) {
        char step[64];
        snprintf(step, sizeof(step), "load %s", names[i]);
        end_step(step, "", indices[i] != 0 ? 0 : result);
    }
    if ((result == 0) != (indices[0] != 0 && indices[1] != 0 && indices[2] != 0))
        problem("a batch with result %d", result);
}

/* More positions than the stack has room for, of which few are reached. */
static void load_with_track(const char *name)
{
    static struct jitdump_position positions[POSITIONS];
    const struct jitdump_function functions[] = {{.name = "outer", .file = "a.js"},
                                                 {.name = "inner", .file = "b.js"}};
    for (uint32_t i = 0; i < POSITIONS; i++)
        positions[i] =
            (struct jitdump_position){i != 0, i + 1, 1, i != 0 ? 0 : JITDUMP_NONE};
    const struct jitdump_offset offsets[] = {{0, 0}, {16, 1}, {32, POSITIONS - 1}};
    const struct jitdump_track track = {.struct_size = sizeof(track),
                                        .functions = functions,
                                        .function_count = 2,
                                        .positions = positions,
                                        .position_count = POSITIONS,
                                        .offsets = offsets,
                                        .offset_count = 3};
    struct jitdump_code code = function(name, 0x4000, 64);
    code.tracks = &track;
    code.track_count = 1;
    STEP("load track", jitdump_load(dump, &code, NULL));
}

static void move(const char *name, uint64_t index, uint64_t from, uint64_t size)
{
    char step[64];
    snprintf(step, sizeof(step), "move %s", name);
    if (index != 0)
        STEP(step, jitdump_move(dump, index, from, from + 0x100000, size));
}

static void raw(const char *name, size_t size)
{
    char step[64];
    snprintf(step, sizeof(step), "raw %s", name);
    STEP(step, jitdump_append_raw(dump, 100, code_of(name, size), size));
}

static void embed(const char *path, size_t size)
{
    char step[64];
    snprintf(step, sizeof(step), "source %s", path);
    STEP(step, jitdump_embed_source(dump, path, code_of(path, size), size));
}

static void flush_in_handler(int number)
{
    (void)number;
    STEP("flush-from-signal", jitdump_flush_from_signal(dump));
}

static void flush(void)
{
    STEP("flush", jitdump_flush(dump));
}

static void flush_from_signal(void)
{
    struct sigaction before, action = {.sa_handler = flush_in_handler};
    sigaction(SIGUSR1, &action, &before);
    raise(SIGUSR1);
    sigaction(SIGUSR1, &before, NULL);
}

/* All kinds of records, in samply's dialect, with all that can be written beside the dump. */
static void append_all(void)
{
    uint32_t tier = 0;
    STEP("tier", jitdump_add_tier(dump, "baseline", JITDUMP_COLOR_BLUE, "Baseline: ", &tier));
    embed("a.js", 100);
    const uint64_t index = load("plain", 0x1000, 64);
    load_with_lines("lines", tier);
    load_with_unwinding("unwind");
    load_with_track("track");
    move("plain", index, 0x1000, 64);
    load_many(false);
    raw("small", 50);
    flush();
    load("big", 0x10000, BIG);
    embed("big.js", BIG);
    raw("big", BIG);
    load("last", 0x5000, 64);
    flush_from_signal();
    load("unflushed", 0x6000, 64);
}

static const struct jitdump_options all_options = {
    .dialect = JITDUMP_DIALECT_SAMPLY_2023,
    .flags = JITDUMP_SOURCE_FILES | JITDUMP_PERF_MAP | JITDUMP_TIER_RECORDS};

static void run_all(void)
{
    if (!open_dump(all_options))
        return;
    append_all();
    close_dump();
}

static struct jitdump_options leaving_little(uint32_t flag)
{
    struct jitdump_options options = all_options;
    options.flags |= flag;
    return options;
}

static void append_few(void)
{
    embed("a.js", 100);
    load("one", 0x1000, 64);
    close_dump();
}

/* The program has closed its standard streams. */
static void run_unlink(void)
{
    enum { STREAMS = 3, HIGH = 10 };
    int kept[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        kept[i] = fcntl(i, F_DUPFD_CLOEXEC, HIGH);
        if (kept[i] >= 0)
            close(i);
    }
    const bool is_open = open_dump(leaving_little(JITDUMP_UNLINK_AT_CLOSE));
    for (int i = 0; i < STREAMS; i++)
        if (kept[i] >= 0) {
            dup2(kept[i], i);
            close(kept[i]);
        }
    if (is_open)
        append_few();
}

static void run_empty(void)
{
    if (open_dump(leaving_little(JITDUMP_EMPTY_AT_CLOSE)))
        append_few();
}

/* Many records in one block. */
static void run_plain(void)
{
    if (!open_dump((struct jitdump_options){.flags = 0}))
        return;
    static const char *const names[] = {"a", "bb", "ccc", "dddd", "eeeee"};
    for (uint64_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        load(names[i], 0x1000 * (i + 1), 20);
    load_with_lines("lines", 0);
    load_with_unwinding("unwind");
    load_out_of_section("section");
    load_many(true);
    flush();
    load("last", 0x9000, 20);
    close_dump();
}

/* Nothing is closed. */
static void run_exit(void)
{
    if (!open_dump(all_options))
        return;
    load("one", 0x1000, 64);
    load("two", 0x2000, 64);
    exit(0);
}

/* The file is the program's, and stays whatever the open returns. */
static void run_descriptor(void)
{
    struct making making;
    const int file = open(dump_path(directory), O_RDWR | O_CREAT | O_EXCL, 0600);
    faults_give_dump(file);
    making_begins(&making, directory);
    const bool is_open =
        try_to_open("open", (struct jitdump_options){.descriptor = (uint64_t)file});
    if (!is_open && faults_planned())
        making_failed(&making, 0);
    close(file);
    if (is_open) {
        load("one", 0x1000, 64);
        load("big", 0x10000, BIG);
        close_dump();
    } else {
        unlink(dump_path(directory));
        if (faults_planned())
            open_again((struct jitdump_options){.flags = 0});
    }
}

static void run_tsc(void)
{
    if (!open_dump((struct jitdump_options){.clock = JITDUMP_CLOCK_TSC}))
        return;
    load("one", 0x1000, 64);
    close_dump();
}

/* What a process of the same pid has left. */
static void leave_stale_files(void)
{
    const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    const int fds[] = {open(dump_path(directory), O_CREAT | O_WRONLY, 0600),
                       open(map_path(), O_CREAT | O_WRONLY, 0600)};
    for (int i = 0; i < 2; i++) {
        futimens(fds[i], old);
        close(fds[i]);
    }
}

static void run_stale(void)
{
    leave_stale_files();
    if (open_dump(leaving_little(JITDUMP_UNLINK_AT_CLOSE)))
        append_few();
    unlink(map_path());
}

static void *append_in_thread(void *name)
{
    for (uint64_t i = 0; i < 5; i++) {
        char function_name[24];
        snprintf(function_name, sizeof(function_name), "%s.%d", (char *)name, (int)i);
        load(function_name, 0x1000 * (i + 1), 400 * (i + 1));
    }
    return NULL;
}

static void run_threads(void)
{
    static char names[THREADS][8];
    pthread_t threads[THREADS];
    if (!open_dump((struct jitdump_options){.flags = 0}))
        return;
    for (int i = 0; i < THREADS; i++) {
        snprintf(names[i], sizeof(names[i]), "t%d", i);
        if (pthread_create(&threads[i], NULL, append_in_thread, names[i]) != 0)
            abort();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    flush();
    close_dump();
}

static void run_in_child(uint64_t index, struct jitdump_options options)
{
    struct making making;
    making_begins(&making, directory);
    check_conditions("fork");
    load("of-the-child", 0x2000, 64);
    /* What has failed is the start of its dump, or else a write to it. */
    const bool undone = faults_planned() && jitdump_path(dump) == NULL;
    if (undone)
        making_failed(&making, (size_t)sysconf(_SC_PAGESIZE)); /* the parent's marker page */
    move("of-the-parent", index, 0x1000, 64);
    embed("of-the-child.js", 100);
    flush();
    load("last", 0x3000, 64);
    close_dump();
    if (undone)
        open_again(options);
    conditions_end();
    faults_check_leaks();
    const char *const changed = process_state_changed(&making.state);
    /* Of the parent it had some. */
    if (changed != NULL && strcmp(changed, "descriptors") != 0)
        problem("changed: %s", changed);
}

/* The faults are the child's alone; its parent must not notice. */
static void fork_with(struct jitdump_options options, bool stale)
{
    report->dumper = -1;
    if (!open_dump(options))
        abort();
    embed("of-the-parent.js", 100);
    const uint64_t index = load("of-the-parent", 0x1000, 64);
    flush();
    report->step_count = 0;
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* should the alarm be blocked */
        faults_restart();
        if (stale)
            leave_stale_files();
        run_in_child(index, options);
        if (stale)
            unlink(map_path());
        _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        problem("the child ended with status 0x%x", (unsigned)status);
    if (access(jitdump_path(dump), F_OK) != 0 || access(map_path(), F_OK) != 0)
        problem("the parent's files are gone");
    const struct jitdump_code code = function("after", 0x4000, 64);
    if (jitdump_load(dump, &code, NULL) != 0 || jitdump_flush(dump) != 0 ||
        jitdump_close(dump) != 0)
        problem("the parent has an error");
    dump = NULL;
    unlink(map_path());
}

static void run_fork(void)
{
    fork_with(all_options, false);
}

/* Where files of the child's pid are in the way. */
static void run_fork_unlink(void)
{
    fork_with(leaving_little(JITDUMP_UNLINK_AT_CLOSE), true);
}

#define SCENARIO(name)                                                                             \
    static void start_##name(struct report *to, const char *in, uint32_t mode)                     \
    {                                                                                              \
        report = to;                                                                               \
        directory = in;                                                                            \
        flush_mode = mode;                                                                         \
        faults_start(to);                                                                          \
        check_conditions("");                                                                      \
        run_##name();                                                                              \
    }
SCENARIO(all)
SCENARIO(unlink)
SCENARIO(empty)
SCENARIO(plain)
SCENARIO(exit)
SCENARIO(descriptor)
SCENARIO(tsc)
SCENARIO(stale)
SCENARIO(threads)
SCENARIO(fork)
SCENARIO(fork_unlink)

const struct scenario scenarios[] = {
    {"all", start_all},     {"unlink", start_unlink}, {"empty", start_empty},
    {"plain", start_plain}, {"exit", start_exit},   {"tsc", start_tsc},       {"stale", start_stale},
    {"descriptor", start_descriptor},
    {"threads", start_threads}, {"fork", start_fork}, {"fork_unlink", start_fork_unlink},
    {NULL, NULL},
};
