#include "tool/inject_undescribed.h"

#include "tool/messages.h"
#include "tool/progress.h"
#include "tool/text.h"

#include "reader/sort.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Of all samples in user mode, in percent: what is less is not spoken of. */
#define WORTH_A_WORD 1

enum { LINES_MAX = 5 };

static int by_samples(const void *left, const void *right)
{
    const struct undescribed_process *const a = left, *const b = right;
    if (a->samples != b->samples)
        return a->samples > b->samples ? -1 : 1;
    return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static bool has_perf_map(uint32_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".map", pid);
    return access(path, F_OK) == 0;
}

static void tell_process(const struct undescribed_process *process)
{
    progress_end();
    fprintf(stderr, "jitdump: %" PRIu64 " samples lie in generated code of process %" PRIu32 " (",
            process->samples, process->pid);
    print_text(stderr, process->name);
    fputs("), which has no dump\n", stderr);
}

static bool is_worth_a_word(const struct undescribed *undescribed, uint64_t samples)
{
    return samples != 0 && samples * 100 >= undescribed->user_samples * WORTH_A_WORD;
}

bool tell_undescribed(struct undescribed *undescribed)
{
    const struct undescribed_process *process = undescribed->processes;
    uint64_t told = 0, samples = 0;
    sort(undescribed->processes, undescribed->count, sizeof(*undescribed->processes), by_samples);
    for (; told < undescribed->count && told < LINES_MAX &&
           is_worth_a_word(undescribed, process->samples); told++)
        tell_process(process++);
    for (uint64_t i = told; i < undescribed->count; i++)
        samples += undescribed->processes[i].samples;
    const uint64_t others = undescribed->count - told;
    if (is_worth_a_word(undescribed, samples) && others == 1)
        tell_process(process);
    else if (is_worth_a_word(undescribed, samples))
        complain("%" PRIu64 " samples lie in generated code of %" PRIu64 "%s processes that have no dump",
                 samples, others, told != 0 ? " more" : "");
    else if (told == 0)
        return false;
    complain("most runtimes have to be told to write a dump (man jitdump-troubleshooting, or "
             "docs/troubleshooting.md)");
    return true;
}

bool find_undescribed(struct undescribed *undescribed, const struct inject_request *request,
                      const struct injected_dumps *dumps, const struct profile_scan *scan,
                      struct perf_data *data)
{
    uint64_t count = request->dump_count;
    for (const struct injected_dump *dump = dumps->first; dump != NULL; dump = dump->next)
        count++;
    uint32_t *const pids = malloc((size_t)(count + 1) * sizeof(*pids));
    if (pids == NULL)
        return false;
    count = 0;
    for (uint32_t i = 0; i < request->dump_count; i++)
        pids[count++] = request->dump_pids[i];
    for (const struct injected_dump *dump = dumps->first; dump != NULL; dump = dump->next)
        pids[count++] = dump->pid;
    const bool found = jd_undescribed_find(undescribed, scan, pids, count, has_perf_map, data);
    free(pids);
    return found;
}
