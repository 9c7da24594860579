/*
 * Calls generated functions, described to perf, for some time of the processor's.
 *
 *     chains HOW CPU_MS FUNCTION...    a chain of calls that ends in `leaf`
 *
 * HOW: where the functions lie, and how perf learns of it.
 *
 *     gap      with the room that perf needs behind each
 *     no-gap   without
 *     moved    copied upwards again and again, and moved for perf by jitdump_move()
 *     anew     the same, and loaded anew
 *     reused   loaded anew again and again, where other functions lay before
 *     section  with the room, and the frames out of one .eh_frame of all functions
 *
 * Prints where each function lies from when on, in the form that tests/jitdump_tests/truth.py reads.
 */
#define _GNU_SOURCE
#include "functions.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CALLS_BETWEEN_CLOCK_READS = 1000, PLACEMENTS = 20 };

static uint64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Of all functions where they lie now, with absolute addresses. */
static unsigned char section[4096];
static uint64_t section_size;

static void make_section(void)
{
    section_size = 0;
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        const struct jitdump_code code = function_code(&functions[i]);
        uint64_t size;
        check(jitdump_unwind_eh_frame(0, &code, section + section_size, sizeof(section) - section_size,
                                      &size));
        section_size += size - 4; /* the terminator */
    }
}

static void load(struct jitdump *dump, struct function *function, uint64_t *index)
{
    struct jitdump_code code = function_code(function);
    if (section_size != 0) {
        code.unwind = NULL;
        code.eh_frame = section;
        code.eh_frame_size = section_size;
    }
    check(jitdump_load(dump, &code, index));
    printf("{\"pid\": %d, \"function\": \"%s\", \"addr\": %" PRIu64 ", \"size\": %" PRIu64
           ", \"since\": %" PRIu64 ", \"file\": \"\", \"lines\": [], \"code\": \"\"}\n",
           getpid(), code.name, code.code_addr, code.code_size, now(CLOCK_MONOTONIC));
}

static void move(struct jitdump *dump, struct function *function, uint64_t index, uint64_t from)
{
    const struct jitdump_code code = function_code(function);
    uint64_t room;
    check(jitdump_unwind_size(dump, &code, &room));
    check(jitdump_move(dump, index, from, code.code_addr, code.code_size + room));
    printf("{\"moved\": \"%s\", \"pid\": %d, \"addr\": %" PRIu64 ", \"since\": %" PRIu64 "}\n",
           code.name, getpid(), code.code_addr, now(CLOCK_MONOTONIC));
}

__attribute__((noinline)) static void call_until(uint64_t end, int argc, char **argv)
{
    const struct function *chain[CHAIN_MAX];
    struct link links[CHAIN_MAX];
    chain_link(chain, chain_parse(argc, argv, chain), links);
    while (now(CLOCK_PROCESS_CPUTIME_ID) < end)
        for (int i = 0; i < CALLS_BETWEEN_CLOCK_READS; i++)
            call_chain(links);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const bool moved = strcmp(argv[1], "moved") == 0;
    const bool reused = strcmp(argv[1], "reused") == 0;
    const uint64_t cpu_ns = strtoull(argv[2], NULL, 10) * 1000000;
    const size_t placements = moved || reused || strcmp(argv[1], "anew") == 0 ? PLACEMENTS : 1;

    struct jitdump *dump;
    check(jitdump_open(&dump, NULL));
    unsigned char *const memory = functions_memory();
    unsigned char *to = memory;
    uint64_t indices[FUNCTION_COUNT];
    for (size_t placement = 0; placement < placements; placement++) {
        uint64_t from[FUNCTION_COUNT];
        for (size_t i = 0; i < FUNCTION_COUNT; i++)
            from[i] = functions[i].code_addr;
        to = functions_place(reused ? memory : to, reused ? placement % FUNCTION_COUNT : 0,
                             strcmp(argv[1], "no-gap") == 0 ? NULL : dump);
        if (strcmp(argv[1], "section") == 0)
            make_section();
        for (size_t i = 0; i < FUNCTION_COUNT; i++) {
            if (moved && placement > 0)
                move(dump, &functions[i], indices[i], from[i]);
            else
                load(dump, &functions[i], &indices[i]);
        }
        call_until(cpu_ns * (placement + 1) / placements, argc - 2, argv + 2);
    }
    check(jitdump_close(dump));
    return 0;
}
