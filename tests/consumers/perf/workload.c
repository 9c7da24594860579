/* Runs one of the programs of scenarios.h. Its output is described in runtime.h. */
#define _GNU_SOURCE
#include "scenarios.h"

#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    scenario_function *run;
} scenarios[] = {
    {"shares", scenario_shares}, {"lines", scenario_lines},
    {"chain", scenario_chain},   {"neighbours", scenario_neighbours},
    {"move", scenario_move},     {"reuse", scenario_reuse},
    {"fork", scenario_fork},     {"workers", scenario_workers},
    {"mangled", scenario_mangled}, {"threads", scenario_threads},
    {"mixed", scenario_mixed},   {"two-dumps", scenario_two_dumps},
    {"random", scenario_random},
};

static const struct option long_options[] = {
    {"duration-ms", required_argument, NULL, 'd'},
    {"until-eof", no_argument, NULL, 'e'},
    {"memory", required_argument, NULL, 'm'},
    {"protect", no_argument, NULL, 'p'},
    {"no-gap", no_argument, NULL, 'g'},
    {"tsc", no_argument, NULL, 't'},
    {"force-tsc", no_argument, NULL, 'f'},
    {"flush-mode", required_argument, NULL, 'b'},
    {"empty", no_argument, NULL, 'c'},
    {"descriptor", no_argument, NULL, 'x'},
    {"seed", required_argument, NULL, 's'},
    {"no-moves", no_argument, NULL, 'n'},
    {0},
};

static uint32_t number(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
    struct runtime runtime = {.duration_ns = 1000000000, .leave_gap = true, .moves = true};
    struct jitdump_options options;
    jitdump_options_init(&options, sizeof(options));
    const char *memory_kind = "anonymous";
    int option;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (option) {
        case 'd': runtime.duration_ns = (uint64_t)number(optarg) * 1000000; break;
        case 'e': runtime.until_eof = true; break;
        case 'm': memory_kind = optarg; break;
        case 'p': runtime.protect = true; break;
        case 'g': runtime.leave_gap = false; break;
        case 't': options.clock = JITDUMP_CLOCK_TSC; break;
        case 'f': options.flags |= JITDUMP_FORCE_TSC; break;
        case 'c': options.flags |= JITDUMP_EMPTY_AT_CLOSE; break;
        case 's': runtime.seed = number(optarg); break;
        case 'n': runtime.moves = false; break;
        case 'x': runtime.opens_file = true; break;
        case 'b': options.flush_mode = number(optarg); break;
        default: return 2;
        }
    }
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        if (optind < argc && strcmp(argv[optind], scenarios[i].name) == 0) {
            runtime_open(&runtime, &options);
            struct jit_memory memory;
            jit_memory_map(&memory, memory_kind);
            scenarios[i].run(&runtime, &memory);
            runtime_close(&runtime);
            return 0;
        }
    }
    errx(2, "usage: workload [options] scenario");
}
