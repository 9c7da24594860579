/*
 * usage: faults
 *
 * Reads runs from standard input, a line each: scenario, flush mode, directory, and any number of
 * plans, each "call:occurrence:always:errno:size", and of conditions (conditions.h). Each is made
 * in a process of its own, and one line of JSON says what came of it. A run that hangs is ended by
 * SIGALRM; status 77: the conditions can't be had.
 */
#define _GNU_SOURCE
#include "process_state.h"
#include "scenarios.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WATCHDOG_S = 120, LINE_SIZE = 8192, SKIPPED = 77 };

static bool parse_plan(const char *text, struct fault_plan *plan)
{
    int always;
    if (sscanf(text, "%31[^:]:%u:%d:%d:%zu", plan->call, &plan->occurrence, &always,
               &plan->error_number, &plan->size) != 5)
        return false;
    plan->always = always != 0;
    return true;
}

struct run {
    const struct scenario *scenario;
    struct report *report;
    const char *directory;
    unsigned mode;
};

static void *run_scenario(void *argument)
{
    const struct run *const run = argument;
    run->scenario->run(run->report, run->directory, run->mode);
    return NULL;
}

/* In a thread of its own, since a filter of system calls can't be taken off again. */
static void run(struct run *run)
{
    static struct process_state state;
    pthread_t thread;
    for (int i = 0; i < run->report->condition_count; i++)
        if (!condition_possible(&run->report->conditions[i]))
            _exit(SKIPPED);
    alarm(WATCHDOG_S);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    process_state_take(&state);
    if (run->report->condition_count == 0)
        run_scenario(run);
    else if (pthread_create(&thread, NULL, run_scenario, run) != 0 ||
             pthread_join(thread, NULL) != 0)
        _exit(1);
    conditions_end();
    faults_check_leaks();
    const char *const changed = process_state_changed(&state);
    if (changed != NULL)
        problem("changed: %s", changed);
    _exit(0);
}

static void print(const struct report *report, int status)
{
    printf("{\"status\": %d, \"dumper\": %d, \"fired\": %d, \"calls\": {", status, report->dumper,
           report->fired_step);
    for (int i = 0; i < report->call_count; i++)
        printf("%s\"%s\": %u", i > 0 ? ", " : "", report->calls[i].name, report->calls[i].count);
    printf("}, \"writes\": [");
    for (int i = 0; i < report->write_count; i++)
        printf("%s[%zu, %zu]", i > 0 ? ", " : "", report->writes[i].first,
               report->writes[i].total);
    printf("], \"steps\": [");
    for (int i = 0; i < report->step_count; i++)
        printf("%s[\"%s\", %d]", i > 0 ? ", " : "", report->steps[i].name,
               report->steps[i].result);
    printf("], \"left\": [");
    for (int i = 0; i < report->left_count; i++)
        printf("%s\"%s\"", i > 0 ? ", " : "", report->left[i]);
    printf("], \"problems\": [");
    for (int i = 0; i < report->problem_count; i++)
        printf("%s\"%s\"", i > 0 ? ", " : "", report->problems[i]);
    printf("]}\n");
    fflush(stdout);
}

static bool add_word(struct report *report, const char *word)
{
    if (strchr(word, '@') != NULL)
        return report->condition_count < CONDITIONS_MAX &&
               condition_parse(word, &report->conditions[report->condition_count++]);
    return report->plan_count < PLANS_MAX &&
           parse_plan(word, &report->plans[report->plan_count++]);
}

static bool serve(char *line, struct report *report)
{
    char *rest = line;
    const char *const name = strsep(&rest, " \n");
    const char *const mode = strsep(&rest, " \n");
    const char *const directory = strsep(&rest, " \n");
    const struct scenario *scenario = scenarios;
    while (scenario->name != NULL && strcmp(scenario->name, name) != 0)
        scenario++;
    if (scenario->name == NULL || directory == NULL)
        return false;
    memset(report, 0, sizeof(*report));
    for (const char *word; (word = strsep(&rest, " \n")) != NULL;)
        if (word[0] != '\0' && !add_word(report, word))
            return false;
    const pid_t child = fork();
    if (child == 0)
        run(&(struct run){scenario, report, directory, (unsigned)atoi(mode)});
    int status;
    if (waitpid(child, &status, 0) != child)
        return false;
    print(report, status);
    return true;
}

int main(void)
{
    char line[LINE_SIZE];
    struct report *const report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED)
        return 1;
    while (fgets(line, sizeof(line), stdin) != NULL)
        if (!serve(line, report))
            return 1;
    return 0;
}
