#define _GNU_SOURCE
#include "tool/record_summary.h"

#include "tool/messages.h"
#include "tool/record_chains.h"
#include "tool/record_processes.h"
#include "tool/text.h"

#include "check/profile_check.h"
#include "reader/read_history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HOTTEST = 5 };

struct hot_function {
    struct span name; /* in the dump's mapping */
    uint64_t samples;
};

/* Of a process; without a dump its history has no pieces. */
struct summed_dump {
    struct mapped_file file;
    struct history history;
    uint32_t pid;
};

struct summary {
    const struct record_directory *directory;
    struct perf_data *data;
    bool told_undescribed;
    struct record_processes processes;
    struct profile_shares sum;
    struct summed_dump *dumps;
    size_t dump_count;
    struct hot_function *functions;
    size_t function_count;
};

/* Functions of all dumps, by name */

static int by_name(const void *left, const void *right)
{
    const struct hot_function *const a = left, *const b = right;
    const uint64_t size = a->name.size < b->name.size ? a->name.size : b->name.size;
    const int order = memcmp(a->name.data, b->name.data, (size_t)size);
    return order != 0 ? order : (a->name.size > b->name.size) - (a->name.size < b->name.size);
}

static int by_samples(const void *left, const void *right)
{
    const struct hot_function *const a = left, *const b = right;
    return a->samples != b->samples ? (a->samples < b->samples) - (a->samples > b->samples)
                                    : by_name(left, right);
}

static void merge_names(struct summary *summary)
{
    struct hot_function *const list = summary->functions;
    size_t count = 0;
    if (summary->function_count != 0)
        qsort(list, summary->function_count, sizeof(*list), by_name);
    for (size_t i = 0; i < summary->function_count; i++) {
        if (count != 0 && by_name(&list[count - 1], &list[i]) == 0)
            list[count - 1].samples += list[i].samples;
        else
            list[count++] = list[i];
    }
    summary->function_count = count;
    if (count != 0)
        qsort(list, count, sizeof(*list), by_samples);
}

static bool add_functions(struct summary *summary, const struct history *history,
                          const uint32_t *of_piece)
{
    size_t count = summary->function_count;
    for (uint32_t i = 0; i < history->piece_count; i++)
        count += of_piece[i] != 0;
    void *const grown = realloc(summary->functions, (count + 1) * sizeof(*summary->functions));
    if (grown == NULL)
        return false;
    summary->functions = grown;
    for (uint32_t i = 0; i < history->piece_count; i++)
        if (of_piece[i] != 0)
            summary->functions[summary->function_count++] =
                (struct hot_function){history->pieces[i].name, of_piece[i]};
    return true;
}

/* A process that has a dump, or was forked from one that has */

/* The dump as the profile names it, or, of another mount namespace, by its name in the directory. */
static bool open_dump(const struct summary *summary, struct mapped_file *file, struct span path)
{
    char name[4096], here[8192];
    snprintf(name, sizeof(name), "%.*s", (int)path.size, (const char *)path.data);
    if (jd_mapped_file_open(file, name) == 0)
        return true;
    const char *const base = strrchr(name, '/');
    snprintf(here, sizeof(here), "%s/%s", summary->directory->path, base != NULL ? base + 1 : name);
    return jd_mapped_file_open(file, here) == 0;
}

static void add_shares(struct profile_shares *sum, const struct profile_shares *shares)
{
    sum->generated += shares->generated;
    sum->named += shares->named;
    sum->with_line += shares->with_line;
    sum->chains += shares->chains;
    sum->whole_chains += shares->whole_chains;
    sum->below += shares->below;
    sum->stack_copies = sum->stack_copies || shares->stack_copies;
}

/* What can't be read the injection has complained about. False: out of memory. */
static bool read_dump(struct summary *summary, const struct record_process *process)
{
    struct summed_dump *const dump = &summary->dumps[summary->dump_count];
    const struct problems problems = {0};
    if (!open_dump(summary, &dump->file, process->dump))
        return true;
    const enum history_error error = jd_history_read(&dump->history, &dump->file, &problems);
    if (error != HISTORY_OK) {
        jd_mapped_file_close(&dump->file);
        return error != HISTORY_NO_MEMORY;
    }
    dump->pid = process->pid;
    summary->dump_count++;
    return true;
}

static const struct history *history_of(const struct summary *summary, uint32_t pid)
{
    for (size_t i = 0; i < summary->dump_count; i++)
        if (summary->dumps[i].pid == pid)
            return &summary->dumps[i].history;
    return NULL;
}

static bool add_counts(struct summary *summary, const struct history *history,
                       const struct profile_shares *shares, const struct inherited_code *others,
                       uint32_t count)
{
    add_shares(&summary->sum, shares);
    bool enough = shares->of_piece == NULL || add_functions(summary, history, shares->of_piece);
    for (uint32_t i = 0; i < count; i++)
        if (enough && others[i].of_piece != NULL)
            enough = add_functions(summary, others[i].history, others[i].of_piece);
    return enough;
}

/* By its own dump, and those of the processes that it was forked from, if there is one. False: out of memory. */
static bool add_process(struct summary *summary, const struct record_process *process)
{
    const struct history none = {.reader.header.pid = process->pid};
    const struct history *const own = history_of(summary, process->pid);
    const struct history *const history = own != NULL ? own : &none;
    struct profile_shares shares = {0};
    struct findings *const findings = calloc(1, sizeof(*findings));
    struct inherited_code *const others = calloc(summary->dump_count + 1, sizeof(*others));
    bool enough = findings != NULL && others != NULL;
    uint32_t count = 0;
    for (size_t i = 0; i < summary->dump_count && enough; i++)
        if (summary->dumps[i].pid != process->pid)
            others[count++] = (struct inherited_code){.history = &summary->dumps[i].history,
                                                      .pid = summary->dumps[i].pid};
    if (enough)
        enough = jd_check_profile(findings, &shares, history, others, count, summary->data) !=
                 PROFILE_NO_MEMORY;
    bool known = own != NULL;
    for (uint32_t i = 0; i < count; i++)
        known = known || others[i].of_piece != NULL;
    if (enough && known)
        enough = add_counts(summary, history, &shares, others, count);
    for (uint32_t i = 0; i < count; i++)
        free(others[i].of_piece);
    free(shares.of_piece);
    free(findings);
    free(others);
    return enough;
}

static bool collect(struct summary *summary)
{
    struct record_processes *const processes = &summary->processes;
    summary->dumps = calloc(processes->count + 1, sizeof(*summary->dumps));
    if (summary->dumps == NULL)
        return false;
    for (size_t i = 0; i < processes->count; i++)
        if (processes->list[i].dump.data != NULL && !read_dump(summary, &processes->list[i]))
            return false;
    for (size_t i = 0; i < processes->count; i++) {
        const struct record_process *const process = &processes->list[i];
        if (process->samples != 0 && record_process_has_dump(processes, process) &&
            !add_process(summary, process))
            return false;
    }
    merge_names(summary);
    return true;
}

/* The text */

static double percent(uint64_t part, uint64_t whole)
{
    return whole != 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

static void print_share(const char *what, uint64_t part, uint64_t whole, const char *note)
{
    fprintf(stderr, "  %-12s %8" PRIu64 "  %5.1f %%%s\n", what, part, percent(part, whole), note);
}

/* Where most of the time goes that generated code costs, if it is a trampoline into an interpreter. */
static void print_below(uint64_t below, const char *note)
{
    if (below != 0)
        fprintf(stderr, "  %-12s %8" PRIu64 "  more samples, in what it has called%s\n", "below it",
                below, note);
}

static void print_chains(const struct summary *summary)
{
    const struct profile_shares *const sum = &summary->sum;
    struct record_chains chains;
    char note[64] = "";
    if (!sum->stack_copies) {
        if (sum->chains != 0)
            print_share("whole chain", sum->whole_chains, sum->chains,
                        sum->whole_chains * 10 < sum->chains * 9 ? "  (try --call-graph dwarf)" : "");
        print_below(sum->below, "");
        return;
    }
    if (!record_chains_count(&chains, summary->directory->profile, summary->directory->path))
        return;
    /* Where perf could not unwind at all, it shows nothing, not even where the sample is. */
    uint64_t all = sum->named;
    if (chains.all + chains.below == RECORD_CHAINS_MAX) {
        snprintf(note, sizeof(note), "  (of the first %d, by perf)", RECORD_CHAINS_MAX);
        all = chains.all;
    }
    if (all != 0)
        print_share("whole chain", chains.whole, all, note);
    print_below(chains.below, note);
}

/* As one word for a shell. Names may have quotes. */
static void print_word(struct span word, bool bare)
{
    const char *const quote = bare ? "" : "'";
    fputs(quote, stderr);
    for (uint64_t i = 0, begin = 0; i <= word.size; i++) {
        if (i < word.size && word.data[i] != '\'')
            continue;
        print_text(stderr, (struct span){word.data + begin, i - begin});
        fputs(i < word.size ? "'\\''" : quote, stderr);
        begin = i + 1;
    }
}

/* As a path is usually written. */
static void print_path(const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+";
    const struct span word = {(const unsigned char *)path, strlen(path)};
    print_word(word, strspn(path, plain) == word.size);
}

static void print_commands(const struct summary *summary)
{
    fputs("To look at it:\n  perf report -i ", stderr);
    print_path(summary->directory->profile);
    if (summary->function_count != 0) {
        const struct span name = summary->functions[0].name;
        /* perf finds a function by the name that it shows. Of a compiler's, _Z... say, that is another. */
        const bool mangled = name.size != 0 && name.data[0] == '_';
        fprintf(stderr, "\n  perf annotate %s-i ", mangled ? "--no-demangle " : "");
        print_path(summary->directory->profile);
        putc(' ', stderr);
        print_word(name, false);
    }
    putc('\n', stderr);
}

static void print_summary(const struct summary *summary)
{
    const struct profile_shares *const sum = &summary->sum;
    fprintf(stderr, "jitdump: %" PRIu64 " samples, %" PRIu64 " in generated code that has dumps (%zu)\n",
            summary->processes.samples, sum->generated, summary->dump_count);
    if (sum->generated != 0) {
        print_share("named", sum->named, sum->generated, "");
        print_share("with line", sum->with_line, sum->generated, "");
    }
    if (summary->dump_count != 0)
        print_chains(summary);
    else if (!summary->told_undescribed)
        fputs("  there is no dump: most programs have to be told to write one\n"
              "  (man jitdump-troubleshooting, or docs/troubleshooting.md)\n",
              stderr);
    if (summary->function_count != 0)
        fputs("The hottest functions, of all samples:\n", stderr);
    for (size_t i = 0; i < summary->function_count && i < HOTTEST; i++) {
        fprintf(stderr, "  %5.1f %%  ",
                percent(summary->functions[i].samples, summary->processes.samples));
        print_text(stderr, summary->functions[i].name);
        fputc('\n', stderr);
    }
    print_commands(summary);
}

void record_summarise(const struct record_directory *directory, struct perf_data *data, bool told_undescribed)
{
    struct summary summary = {
        .directory = directory, .data = data, .told_undescribed = told_undescribed};
    if (!record_processes_read(&summary.processes, data))
        complain("%s: not all of it can be read", directory->recorded);
    else if (!collect(&summary))
        complain("out of memory");
    else
        print_summary(&summary);
    for (size_t i = 0; i < summary.dump_count; i++) {
        jd_history_free(&summary.dumps[i].history);
        jd_mapped_file_close(&summary.dumps[i].file);
    }
    free(summary.dumps);
    free(summary.functions);
    record_processes_free(&summary.processes);
}
