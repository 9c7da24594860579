/*
 * Calls generated functions, described to perf, for some time of the processor's.
 *
 *     chains gap|no-gap CPU_MS FUNCTION...    a chain of calls that ends in `leaf`
 *
 * Prints where each function lies, in the form that tests/jitdump_tests/truth.py reads.
 */
#define _GNU_SOURCE
#include "functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

int main(int argc, char **argv)
{
    enum { CALLS_BETWEEN_CLOCK_READS = 1000 };
    const struct function *chain[CHAIN_MAX];
    if (argc < 3)
        return 2;

    struct jitdump *dump;
    check(jitdump_open(&dump, NULL));
    functions_place(strcmp(argv[1], "gap") == 0 ? dump : NULL);
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        const struct jitdump_code code = function_code(&functions[i]);
        check(jitdump_load(dump, &code, NULL));
        printf("{\"pid\": %d, \"function\": \"%s\", \"addr\": %" PRIu64 ", \"size\": %" PRIu64
               ", \"since\": %" PRIu64 ", \"file\": \"\", \"lines\": [], \"code\": \"\"}\n",
               getpid(), code.name, code.code_addr, code.code_size, now(CLOCK_MONOTONIC));
    }

    struct link links[CHAIN_MAX];
    chain_link(chain, chain_parse(argc - 2, argv + 2, chain), links);
    const uint64_t end = now(CLOCK_PROCESS_CPUTIME_ID) + strtoull(argv[2], NULL, 10) * 1000000;
    while (now(CLOCK_PROCESS_CPUTIME_ID) < end)
        for (int i = 0; i < CALLS_BETWEEN_CLOCK_READS; i++)
            call_chain(links);
    check(jitdump_close(dump));
    return 0;
}
