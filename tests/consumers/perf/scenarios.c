#define _GNU_SOURCE
#include "scenarios.h"

#include "eh_frame.h"

#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Spins `weight` rounds per iteration, all of it on one line. */
static void assemble_one_line(struct assembler *a, uint32_t line, uint32_t weight)
{
    assemble_line(a, line);
    assemble_enter(a, 16);
    assemble_spin(a, weight);
    assemble_leave(a);
}

static void load_one_line(const struct place *place, struct function *function, const char *name,
                          uint32_t line, uint32_t weight)
{
    struct assembler a = {0};
    assemble_one_line(&a, line, weight);
    runtime_load(place, NULL, function, name, &a);
}

/* Spins on `line`, then calls `callee` from the next line. */
static void load_caller(const struct place *place, struct function *function, const char *name,
                        uint32_t line, uint32_t weight, uint32_t frame_size,
                        const struct function *callee)
{
    struct assembler a = {0};
    assemble_line(&a, line);
    assemble_enter(&a, frame_size);
    assemble_spin(&a, weight);
    assemble_line(&a, line + 1);
    assemble_call(&a, (const void *)(uintptr_t)callee->entry);
    assemble_leave(&a);
    runtime_load(place, NULL, function, name, &a);
}

static void call_all_until(const struct runtime *runtime, unsigned percent,
                           struct function *functions, size_t count)
{
    while (runtime_running(runtime, percent)) {
        for (size_t i = 0; i < count; i++)
            runtime_call(&functions[i]);
    }
}

static void print_cpu_of_all(const struct function *functions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        runtime_print_cpu(&functions[i]);
}

/* Three functions of 1, 2 and 5 parts, with a record that perf does not know between. */
void scenario_shares(struct runtime *runtime, struct jit_memory *memory)
{
    const struct place place = {runtime, memory, "shares.src"};
    struct function functions[3];
    load_one_line(&place, &functions[0], "one_part", 1, 1);
    int error = jitdump_append_raw(runtime->dump, UINT32_C(0x7e577e57), "", 1);
    if (error != 0)
        errx(2, "jitdump_append_raw: %s", jitdump_strerror(error));
    load_one_line(&place, &functions[1], "two", 2, 2);
    load_one_line(&place, &functions[2], "five_parts_of_eight", 3, 5);
    runtime_print_ready();
    call_all_until(runtime, 100, functions, 3);
    print_cpu_of_all(functions, 3);
}

/* Two dumps, the second one in a directory of its own, with a function of 3 parts and one of 1 part. */
void scenario_two_dumps(struct runtime *runtime, struct jit_memory *memory)
{
    if (mkdir("second", 0700) != 0)
        err(2, "second");
    struct runtime second = *runtime;
    runtime_open(&second, &(struct jitdump_options){.struct_size = sizeof(struct jitdump_options),
                                                    .directory = "second"});
    const struct place places[2] = {{runtime, memory, "first.src"}, {&second, memory, "second.src"}};
    struct function functions[2];
    load_one_line(&places[0], &functions[0], "three_parts", 1, 3);
    load_one_line(&places[1], &functions[1], "one_part", 1, 1);
    runtime_print_ready();
    call_all_until(runtime, 100, functions, 2);
    print_cpu_of_all(functions, 2);
    runtime_close(&second);
}

/* One function with hot lines of 1, 3 and 2 parts, the last of them the last of the table. */
void scenario_lines(struct runtime *runtime, struct jit_memory *memory)
{
    const struct place place = {runtime, memory, "lines.src"};
    struct assembler a = {0};
    assemble_line(&a, 9);
    assemble_enter(&a, 32);
    for (uint32_t i = 0; i < 3; i++) {
        assemble_line(&a, 10 + i);
        assemble_spin(&a, (const uint32_t[]){1, 3, 2}[i]);
    }
    assemble_leave(&a);
    struct function function;
    runtime_load(&place, NULL, &function, "three_hot_lines", &a);
    runtime_print_ready();
    call_all_until(runtime, 100, &function, 1);
}

/* outer calls middle calls inner; 1, 2 and 6 parts of their own. */
void scenario_chain(struct runtime *runtime, struct jit_memory *memory)
{
    const struct place place = {runtime, memory, "chain.src"};
    struct function inner, middle, outer;
    load_one_line(&place, &inner, "inner", 1, 6);
    load_caller(&place, &middle, "middle", 10, 2, 48, &inner);
    load_caller(&place, &outer, "outer", 20, 1, 160, &middle);
    runtime_print_ready();
    call_all_until(runtime, 100, &outer, 1);
}

/* Two leaves side by side, each with a caller. */
void scenario_neighbours(struct runtime *runtime, struct jit_memory *memory)
{
    const struct place place = {runtime, memory, "neighbours.src"};
    struct function leaves[2], callers[2];
    load_one_line(&place, &leaves[0], "first_leaf", 1, 3);
    load_one_line(&place, &leaves[1], "second_leaf", 2, 3);
    load_caller(&place, &callers[0], "first_caller", 10, 1, 48, &leaves[0]);
    load_caller(&place, &callers[1], "second_caller", 20, 1, 80, &leaves[1]);
    runtime_print_ready();
    call_all_until(runtime, 100, callers, 2);
}

/* A function that is moved when a third of the time is over, beside one that stays. */
void scenario_move(struct runtime *runtime, struct jit_memory *memory)
{
    const struct place place = {runtime, memory, "move.src"};
    struct function functions[2];
    load_one_line(&place, &functions[0], "moved", 1, 3);
    load_one_line(&place, &functions[1], "settled", 2, 1);
    runtime_print_ready();
    call_all_until(runtime, 33, functions, 2);
    runtime_move(&place, &functions[0]);
    call_all_until(runtime, 100, functions, 2);
    print_cpu_of_all(functions, 2);
}

/* Two functions, one after the other at one address, the first one the longer. */
void scenario_reuse(struct runtime *runtime, struct jit_memory *memory)
{
    struct assembler former_code = {0};
    assemble_enter(&former_code, 16);
    for (uint32_t line = 1; line <= 3; line++) {
        assemble_line(&former_code, line);
        assemble_spin(&former_code, 1);
    }
    assemble_leave(&former_code);
    struct assembler latter_code = {0};
    assemble_one_line(&latter_code, 7, 3);

    const struct place place = {runtime, memory, "reuse.src"};
    uint8_t *at = jit_memory_take(memory, CODE_MAX + EH_FRAME_MAX);
    struct function former, latter;
    runtime_load(&place, at, &former, "former", &former_code);
    runtime_print_ready();
    call_all_until(runtime, 33, &former, 1);
    runtime_load(&place, at, &latter, "latter", &latter_code);
    call_all_until(runtime, 100, &latter, 1);
    runtime_print_cpu(&former);
    runtime_print_cpu(&latter);
}

/* A child that inherits a function, and then has another function at an address than its parent. */
void scenario_fork(struct runtime *runtime, struct jit_memory *memory)
{
    const struct place place = {runtime, memory, "fork.src"};
    uint8_t *at = jit_memory_take(memory, CODE_MAX + EH_FRAME_MAX);
    struct function functions[2];
    load_one_line(&place, &functions[0], "before_fork", 1, 1);
    runtime_print_ready();

    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        err(2, "fork");
    struct assembler a = {0};
    assemble_one_line(&a, child == 0 ? 10 : 20, child == 0 ? 2 : 3);
    runtime_load(&place, at, &functions[1], child == 0 ? "in_child" : "in_parent", &a);
    call_all_until(runtime, 100, functions, 2);
    print_cpu_of_all(functions, 2);
    int status;
    if (child != 0 && (waitpid(child, &status, 0) != child || status != 0))
        errx(2, "the child failed");
}

/* Children that run what they have from their parent, and load nothing themselves: servers are so. */
void scenario_workers(struct runtime *runtime, struct jit_memory *memory)
{
    enum { WORKERS = 2 };
    const struct place place = {runtime, memory, "workers.src"};
    struct function function;
    load_one_line(&place, &function, "the_workers'_own", 1, 1);
    runtime_print_ready();
    fflush(stdout);
    for (int i = 0; i < WORKERS; i++) {
        const pid_t child = fork();
        if (child < 0)
            err(2, "fork");
        if (child == 0) {
            call_all_until(runtime, 100, &function, 1);
            _exit(0);
        }
    }
    int status;
    while (wait(&status) > 0)
        if (status != 0)
            errx(2, "a child failed");
    runtime_print_cpu(&function);
}

/* A name as compilers of C++ make them, which perf shows in the form of the source. */
void scenario_mangled(struct runtime *runtime, struct jit_memory *memory)
{
    const struct place place = {runtime, memory, "mangled.src"};
    struct function function;
    load_one_line(&place, &function, "_ZN3jit4leafEi", 1, 1);
    runtime_print_ready();
    call_all_until(runtime, 100, &function, 1);
    runtime_print_cpu(&function);
}

enum { THREADS = 2, FUNCTIONS_PER_THREAD = 16, UNCALLED_PER_FUNCTION = 30, CALLS_PER_ROUND = 5 };

struct worker {
    struct runtime *runtime;
    unsigned number;
};

/* For some microseconds. Who wakes up interrupts who runs, at any point of a load, even where
 * all threads share one processor. */
static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000 * (1 + rand() % 20)}, NULL);
}

/* Loads functions at the same time as the other threads, more than it will call, since
 * perf takes long for those that have samples. */
static void *load_and_call(void *argument)
{
    struct worker *worker = argument;
    struct jit_memory memory;
    jit_memory_map(&memory, "anonymous");
    char file[32];
    snprintf(file, sizeof(file), "thread_%u.src", worker->number);
    const struct place place = {worker->runtime, &memory, file};

    prctl(PR_SET_TIMERSLACK, 1); /* naps no longer than asked for */
    struct function functions[FUNCTIONS_PER_THREAD];
    for (unsigned i = 0; i < FUNCTIONS_PER_THREAD; i++) {
        struct assembler a = {0};
        assemble_one_line(&a, 100 * i + 2, 1);
        for (unsigned j = 0; j < UNCALLED_PER_FUNCTION; j++) {
            runtime_load_uncalled(&place, NULL, &functions[i], "uncalled", &a);
            nap();
        }
        char name[32];
        snprintf(name, sizeof(name), "thread_%u_function_%u", worker->number, i);
        load_one_line(&place, &functions[i], name, 100 * i + 1, 1);
    }
    call_all_until(worker->runtime, 100, functions, FUNCTIONS_PER_THREAD);
    print_cpu_of_all(functions, FUNCTIONS_PER_THREAD);
    return NULL;
}

static void assemble_line_per_instruction(struct assembler *a, uint32_t line, uint32_t weight)
{
    assemble_line(a, line);
    assemble_enter(a, 64);
    assemble_loop(a, weight);
    for (uint32_t i = 1; i <= 4; i++) {
        assemble_line(a, line + i);
        assemble_multiply(a);
    }
    assemble_line(a, line + 5);
    assemble_loop_end(a);
    assemble_line(a, line + 6);
    assemble_leave(a);
}

static void load_line_per_instruction(const struct place *place, struct function *function,
                                      const char *name, uint32_t line, uint32_t weight)
{
    struct assembler a = {0};
    assemble_line_per_instruction(&a, line, weight);
    runtime_load(place, NULL, function, name, &a);
}

/* A line per instruction, a chain of calls, a function moved again and again, an address
 * used again and again. */
static void *mix(void *argument)
{
    struct worker *worker = argument;
    struct runtime *runtime = worker->runtime;
    struct jit_memory memory;
    jit_memory_map(&memory, "anonymous");
    char file[32];
    snprintf(file, sizeof(file), "mixed_%u.src", worker->number);
    const struct place place = {runtime, &memory, file};

    static const char *const names[2][4] = {{"fine_0", "callee_0", "caller_0", "moving_0"},
                                            {"fine_1", "callee_1", "caller_1", "moving_1"}};
    const char *const *name = names[worker->number];
    enum { FINE, CALLEE, CALLER, MOVING, REUSING, COUNT };
    struct function functions[COUNT];
    load_line_per_instruction(&place, &functions[FINE], name[FINE], 10, 1);
    load_line_per_instruction(&place, &functions[CALLEE], name[CALLEE], 20, 2);
    load_caller(&place, &functions[CALLER], name[CALLER], 30, 1, 96, &functions[CALLEE]);
    load_line_per_instruction(&place, &functions[MOVING], name[MOVING], 40, 3);
    uint8_t *at = jit_memory_take(&memory, CODE_MAX + EH_FRAME_MAX);
    for (unsigned round = 1; runtime_running(runtime, 100); round++) {
        struct assembler a = {0};
        if (round % 2 == 0) {
            assemble_one_line(&a, 100 * round, 3);
        } else {
            assemble_line_per_instruction(&a, 100 * round, 2);
        }
        char reusing[32];
        snprintf(reusing, sizeof(reusing), "reusing_%u_%u", worker->number, round);
        runtime_load(&place, at, &functions[REUSING], reusing, &a);
        for (unsigned i = 0; i < CALLS_PER_ROUND * COUNT; i++)
            runtime_call(&functions[i % COUNT]);
        runtime_print_cpu(&functions[REUSING]);
        runtime_move(&place, &functions[MOVING]);
    }
    print_cpu_of_all(functions, REUSING);
    return NULL;
}

static void run_threads(struct runtime *runtime, void *(*body)(void *))
{
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){runtime, i};
        if (pthread_create(&threads[i], NULL, body, &workers[i]) != 0)
            errx(2, "pthread_create");
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

void scenario_threads(struct runtime *runtime, struct jit_memory *memory)
{
    (void)memory; /* each thread has its own */
    run_threads(runtime, load_and_call);
}

void scenario_mixed(struct runtime *runtime, struct jit_memory *memory)
{
    (void)memory;
    run_threads(runtime, mix);
}

/* A program that nobody has thought out: chains of calls, each function at a place where others may have
 * been, at any alignment; chains that end, and others that begin in their places; functions that
 * move. A chain's functions are called by each other alone, so that a name says its callers:
 * "c7_0of3" is called by "c7_1of3", that by "c7_2of3", and that by C. */
enum { CHAINS = 5, DEPTH_MAX = 4, PLACES = 32, PLACE_SIZE = CODE_MAX + EH_FRAME_MAX + 64 };

struct chain {
    struct function functions[DEPTH_MAX];
    unsigned places[DEPTH_MAX];
    unsigned depth;
};

struct random_program {
    struct place place;
    uint8_t *memory;
    bool taken[PLACES];
    struct chain chains[CHAINS];
    unsigned chain_count; /* that there ever were */
};

static unsigned below(unsigned limit)
{
    return (unsigned)rand() % limit;
}

static unsigned take_place(struct random_program *program)
{
    unsigned place;
    do
        place = below(PLACES);
    while (program->taken[place]);
    program->taken[place] = true;
    return place;
}

static uint8_t *address_of(const struct random_program *program, unsigned place)
{
    return program->memory + (size_t)place * PLACE_SIZE + below(64);
}

static void assemble_random(struct assembler *a, const struct function *callee)
{
    assemble_line(a, 1 + below(100000));
    assemble_enter(a, 16 * (1 + below(20)));
    for (unsigned spins = 1 + below(3); spins > 0; spins--) {
        assemble_line(a, 1 + below(100000));
        assemble_spin(a, 1 + below(2));
    }
    if (callee != NULL) {
        assemble_line(a, 1 + below(100000));
        assemble_call(a, (const void *)(uintptr_t)callee->entry);
    }
    assemble_line(a, 1 + below(100000));
    assemble_leave(a);
}

static void begin_chain(struct random_program *program, struct chain *chain)
{
    const unsigned number = program->chain_count++;
    chain->depth = 1 + below(DEPTH_MAX);
    for (unsigned i = 0; i < chain->depth; i++) {
        struct assembler a = {0};
        char name[32];
        assemble_random(&a, i == 0 ? NULL : &chain->functions[i - 1]);
        snprintf(name, sizeof(name), "c%u_%uof%u", number, i, chain->depth);
        chain->places[i] = take_place(program);
        runtime_load(&program->place, address_of(program, chain->places[i]), &chain->functions[i],
                     name, &a);
    }
}

static void end_chain(struct random_program *program, struct chain *chain)
{
    for (unsigned i = 0; i < chain->depth; i++)
        program->taken[chain->places[i]] = false;
    chain->depth = 0;
}

/* The outermost function of a chain: nothing that was generated has its address. */
static void move_outermost(struct random_program *program, struct chain *chain)
{
    const unsigned last = chain->depth - 1, place = take_place(program);
    runtime_move_to(&program->place, &chain->functions[last], address_of(program, place));
    program->taken[chain->places[last]] = false;
    chain->places[last] = place;
}

void scenario_random(struct runtime *runtime, struct jit_memory *memory)
{
    struct random_program program = {
        .place = {runtime, memory, "random.src"},
        .memory = jit_memory_take(memory, (size_t)PLACES * PLACE_SIZE),
    };
    srand(runtime->seed);
    for (unsigned i = 0; i < CHAINS; i++)
        begin_chain(&program, &program.chains[i]);
    runtime_print_ready();
    while (runtime_running(runtime, 100)) {
        struct chain *const ended = &program.chains[below(CHAINS)];
        end_chain(&program, ended);
        begin_chain(&program, ended);
        if (runtime->moves && below(2) == 0)
            move_outermost(&program, &program.chains[below(CHAINS)]);
        for (unsigned i = 0; i < CHAINS; i++)
            runtime_call(&program.chains[i].functions[program.chains[i].depth - 1]);
    }
}
