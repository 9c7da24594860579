/*
 * A program that reports code by Intel's JIT API and GDB's interface, as runtimes do: for machines that have
 * no Python here, for threads that come at once, and under filters of system calls.
 *
 *     client events COLLECTOR [CALLS]        one event of each kind; CALLS are refused from Initialize() on
 *     client race COLLECTOR THREADS METHODS CHILDREN LIBRARY...
 *                                            threads begin at once, libraries come and go, children report
 *     client object BASE IMAGE OBJECT        puts a file to an address, and registers an object with GDB
 *     client refuse CALLS COMMAND...         runs the command where the system calls fail with EPERM
 *
 * CALLS are numbers with commas. `events` and `race` print where the code is, `race` its children's pids too.
 * The layout of events is that of jitprofiling.h (https://github.com/intel/ittapi).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition,            \
                    strerror(errno));                                                              \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

enum { SHUTDOWN = 2, LOAD = 13, UNLOAD = 14, UPDATE = 15, INLINE_LOAD = 16, LOAD_V2 = 21, LOAD_V3 = 22 };
enum { CODE_SIZE = 1 << 16, PIECE = 64 };

struct line {
    unsigned int offset;
    unsigned int line;
};

struct load {
    unsigned int id;
    const char *name;
    void *address;
    unsigned int size;
    unsigned int line_count;
    struct line *lines;
    unsigned int class_id;
    const char *class_name;
    const char *file;
    void *user_data;
    unsigned int user_data_size;
    int environment;
};

struct load_v3 {
    unsigned int id;
    const char *name;
    void *address;
    unsigned int size;
    unsigned int line_count;
    struct line *lines;
    const char *class_name;
    const char *file;
    const char *module;
    int architecture;
};

struct inline_load {
    unsigned int id;
    unsigned int parent;
    const char *name;
    void *address;
    unsigned int size;
    unsigned int line_count;
    struct line *lines;
    const char *class_name;
    const char *file;
};

static unsigned char code[CODE_SIZE];

struct client {
    unsigned int (*initialize)(void);
    unsigned int (*notify)(unsigned int event, void *data);
};

static struct client find_collector(const char *path)
{
    struct client client;
    void *const library = dlopen(path, RTLD_LAZY);
    REQUIRE(library != NULL);
    *(void **)&client.initialize = dlsym(library, "Initialize");
    *(void **)&client.notify = dlsym(library, "NotifyEvent");
    REQUIRE(client.initialize != NULL && client.notify != NULL);
    return client;
}

/* The system calls fail with EPERM from now on, also after an exec. */
static void refuse(char *calls)
{
    struct sock_filter steps[32] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    unsigned short count = 1;
    for (char *call = strtok(calls, ","); call != NULL; call = strtok(NULL, ",")) {
        REQUIRE(count < 28);
        steps[count++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(call), 0, 1);
        steps[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    steps[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {count, steps};
    REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    REQUIRE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void send_events(const struct client *client)
{
    struct line lines[] = {{16, 10}, {PIECE, 11}};
    struct line inlined_lines[] = {{16, 20}};
    struct load first = {.id = 1, .name = "plain", .address = code, .size = PIECE, .line_count = 2,
                         .lines = lines, .file = "/src/plain.c"};
    struct load_v3 second = {.id = 2, .name = "method", .address = code + PIECE, .size = PIECE,
                             .class_name = "Class"};
    struct load_v3 third = {.id = 3, .name = "third", .address = code + 2 * PIECE, .size = PIECE,
                            .module = "module", .architecture = 2};
    struct inline_load inlined = {.id = 4, .parent = 1, .name = "inlined", .address = code + 16,
                                  .size = 16, .line_count = 1, .lines = inlined_lines,
                                  .file = "/src/inlined.h"};
    struct load update = {.id = 1, .address = code + 32, .size = 16};
    unsigned int id = 2;
    struct load_v3 again = {.id = 2, .address = code + 3 * PIECE, .size = PIECE};
    REQUIRE(client->notify(LOAD, &first) == 1 && client->notify(LOAD_V2, &second) == 1 &&
            client->notify(LOAD_V3, &third) == 1 && client->notify(INLINE_LOAD, &inlined) == 1 &&
            client->notify(UPDATE, &update) == 1 && client->notify(UNLOAD, &id) == 1 &&
            client->notify(LOAD_V2, &again) == 1 && client->notify(SHUTDOWN, NULL) == 1);
}

/* Threads that come at once */

static const char *collector;
static unsigned int method_count;
static pthread_barrier_t together;
static _Atomic int at_work;

static void report(const struct client *client, unsigned int id, const char *name)
{
    struct load load = {
        .id = id, .name = name, .address = code + id % 512 * PIECE, .size = PIECE};
    REQUIRE(client->notify(LOAD, &load) == 1);
}

static void *report_all(void *number)
{
    const unsigned int thread = (unsigned int)(uintptr_t)number;
    char name[40];
    pthread_barrier_wait(&together);
    const struct client client = find_collector(collector);
    REQUIRE(client.initialize() == 1);
    for (unsigned int i = 0; i < method_count; i++) {
        snprintf(name, sizeof(name), "%u-%u", thread, i);
        report(&client, 1 + thread * method_count + i, name);
    }
    at_work--;
    return NULL;
}

static void *come_and_go(void *path)
{
    pthread_barrier_wait(&together);
    while (at_work > 0) {
        void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        REQUIRE(library != NULL);
        void (*change)(void);
        *(void **)&change = dlsym(library, "change_nothing");
        if (change != NULL)
            change();
        dlclose(library);
    }
    return NULL;
}

static void race(char **arguments, int library_count)
{
    pthread_t threads[64];
    const unsigned int count = (unsigned int)atoi(arguments[1]);
    const int children = atoi(arguments[3]);
    unsigned int made = 0;
    collector = arguments[0];
    method_count = (unsigned int)atoi(arguments[2]);
    at_work = (int)count;
    REQUIRE(count + (unsigned)library_count < 64);
    pthread_barrier_init(&together, NULL, count + (unsigned)library_count + 1);
    for (; made < count; made++)
        REQUIRE(pthread_create(&threads[made], NULL, report_all, (void *)(uintptr_t)made) == 0);
    for (int i = 0; i < library_count; i++)
        REQUIRE(pthread_create(&threads[made++], NULL, come_and_go, arguments[4 + i]) == 0);
    pthread_barrier_wait(&together);
    /* Not in a child: glibc aborts there if another thread was in dlopen() at the fork. */
    const struct client client = find_collector(collector);
    for (int i = 0; i < children; i++) {
        const pid_t child = fork();
        if (child == 0) {
            report(&client, 1 << 20, "child");
            _exit(0);
        }
        int status;
        REQUIRE(child > 0 && waitpid(child, &status, 0) == child && status == 0);
        printf("child %d\n", (int)child);
    }
    while (made > 0)
        pthread_join(threads[--made], NULL);
}

/* GDB's interface: interface.c is linked in. */

struct jit_code_entry *register_object(const char *object, uint64_t size);
int changed_registers(void);

static char *whole_file(const char *path, size_t *size)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const off_t length = lseek(file, 0, SEEK_END);
    char *const bytes = malloc((size_t)length);
    REQUIRE(file >= 0 && bytes != NULL && pread(file, bytes, (size_t)length, 0) == length);
    *size = (size_t)length;
    close(file);
    return bytes;
}

static void register_with_gdb(char **arguments)
{
    size_t image_size, object_size;
    const char *const image = whole_file(arguments[1], &image_size);
    const char *const object = whole_file(arguments[2], &object_size);
    void *const base = (void *)(uintptr_t)strtoull(arguments[0], NULL, 16); // NOLINT
    REQUIRE(mmap(base, image_size, PROT_READ | PROT_WRITE | PROT_EXEC,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == base);
    memcpy(base, image, image_size);
    register_object(object, object_size);
    REQUIRE(changed_registers() == 0);
}

int main(int argc, char **argv)
{
    for (unsigned int i = 0; i < CODE_SIZE; i++)
        code[i] = (unsigned char)(i * 7 + (i >> 8));
    if (argc >= 3 && strcmp(argv[1], "events") == 0) {
        const struct client client = find_collector(argv[2]);
        REQUIRE(client.initialize() == 1);
        if (argc > 3)
            refuse(argv[3]);
        send_events(&client);
    } else if (argc >= 6 && strcmp(argv[1], "race") == 0) {
        race(argv + 2, argc - 6);
    } else if (argc == 5 && strcmp(argv[1], "object") == 0) {
        register_with_gdb(argv + 2);
    } else if (argc >= 4 && strcmp(argv[1], "refuse") == 0) {
        refuse(argv[2]);
        execvp(argv[3], argv + 3);
        return 127;
    } else {
        return 2;
    }
    printf("code %llx\n", (unsigned long long)(uintptr_t)code);
    return 0;
}
