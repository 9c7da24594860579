/*
 * A JIT runtime reduced to its bones: places assembled functions in memory, describes
 * them with libjitdump, calls them, and prints the truth about it all, one JSON object a
 * line, which the profile is then compared with:
 *
 *   {"dump": path, "pid": …}
 *   {"function": name, "pid": …, "addr": …, "size": …, "since": ns, "file": …,
 *    "lines": [[offset, line, weight], …], "code": hex}
 *   {"moved": name, "pid": …, "addr": …, "since": ns}
 *   {"cpu": name, "ns": …}                     CPU time, callees included
 *   {"clocks": [monotonic ns, processor's counter]}
 *   {"ready": true}                            all that is known at the start is loaded
 *   {"error": code, "message": …}              of jitdump_open(); the end
 */
#ifndef RUNTIME_H
#define RUNTIME_H

#include "codegen.h"
#include "jit_memory.h"

#include <jitdump.h>
#include <stdbool.h>

struct runtime {
    struct jitdump *dump;
    /* CPU time per thread to spend, or with until_eof, until standard input ends. */
    uint64_t duration_ns;
    bool until_eof;
    /* Opens the dump's file, in $JITDUMPDIR, and gives the library its descriptor. */
    bool opens_file;
    /* Leave the room behind functions that perf needs for their unwinding data. */
    bool leave_gap;
    /* Toggle the memory between writable and executable around each load. */
    bool protect;
    /* Of the random scenario. */
    unsigned seed;
    bool moves;
};

struct function {
    char name[32];
    void (*entry)(uint64_t iterations);
    uint32_t size;
    uint64_t code_index;
    uint64_t cpu_ns;
};

/* Opens the dump; ends the process with an "error" line and exit code 1 on failure. */
void runtime_open(struct runtime *, const struct jitdump_options *);
void runtime_close(struct runtime *);

/* Where functions go: into which memory, and from which source file they come. */
struct place {
    struct runtime *runtime;
    struct jit_memory *memory;
    const char *file;
};

/* Places the function at `at`, or where the memory has room if NULL, and describes it. */
void runtime_load(const struct place *, uint8_t *at, struct function *, const char *name,
                  const struct assembler *);

/* The same for one that will never be called, and needs no truth. */
void runtime_load_uncalled(const struct place *, uint8_t *at, struct function *, const char *name,
                           const struct assembler *);

/* Copies the function to where the memory has room, and makes the old copy unusable. */
void runtime_move(const struct place *, struct function *);

/* The same to a place of the caller's choice. */
void runtime_move_to(const struct place *, struct function *, uint8_t *to);

void runtime_print_ready(void);
void runtime_print_cpu(const struct function *);

/* Whether to go on: less than this part of the duration is spent. */
bool runtime_running(const struct runtime *, unsigned percent);

/* Calls the function with a number of iterations that varies, lest the calls keep step
 * with the profiler's clock. */
void runtime_call(struct function *);

#endif
