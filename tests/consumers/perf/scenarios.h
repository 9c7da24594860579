/* The programs whose truth is known. Each loads its functions, prints "ready", runs, and
 * prints the functions' CPU time. */
#ifndef SCENARIOS_H
#define SCENARIOS_H

#include "runtime.h"

typedef void scenario_function(struct runtime *, struct jit_memory *);

scenario_function scenario_shares, scenario_lines, scenario_chain, scenario_neighbours,
    scenario_move, scenario_reuse, scenario_fork, scenario_workers, scenario_mangled,
    scenario_threads, scenario_mixed, scenario_two_dumps, scenario_random;

#endif
