/*
 * jitdump check: what is wrong with a dump, and why a profile is not as it should be.
 */
#define _GNU_SOURCE
#include "tool/command.h"
#include "tool/input.h"
#include "tool/json.h"
#include "tool/messages.h"
#include "tool/parent_dumps.h"
#include "tool/progress.h"
#include "tool/text.h"

#include "check/dump_check.h"
#include "check/profile_check.h"
#include "reader/mapped_file.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: jitdump check [OPTION]... DUMP [PERF.DATA]\n"
    "Says what is wrong with a dump: what breaks the format, and what some consumer reads\n"
    "otherwise than its writer meant. With the profile that goes with it, also which samples\n"
    "have no name, and why.\n"
    "\n"
    "  -f, --function NAME  why is (or is not) this function in the profile? In a line\n"
    "  -j, --json           a JSON object for each finding, and one with the numbers, by line\n"
    "  -q, --quiet          only the exit status, or that one line\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit status: 0 if there is nothing worse than a note, 1 if there is, 2 if the dump or the\n"
    "profile can't be read. With --function: 0 if samples lie in it, or, without a profile, if it\n"
    "was loaded; else 1.\n";

struct check_options {
    const char *dump;
    const char *profile;  /* NULL: none */
    const char *function; /* NULL: none */
    bool json, quiet;
};

static const char *const severity_names[] = {"note", "warning", "error"};

/* Findings */

static void print_finding(const struct findings *findings, enum finding finding)
{
    const struct finding_kind *const kind = &jd_finding_kinds[finding];
    const uint64_t count = findings->of[finding].count;
    printf("%s%s%s: %s\n", severity_names[kind->severity], kind->fact[0] != '\0' ? " " : "",
           kind->fact, kind->text);
    for (uint64_t i = 0; i < count && i < FINDING_PLACES; i++) {
        const struct finding_place *const place = &findings->of[finding].places[i];
        if (place->offset != FINDING_NOWHERE)
            printf("    at 0x%" PRIx64 "%s", place->offset, place->text[0] != '\0' ? ": " : "");
        else if (place->text[0] != '\0')
            printf("    ");
        else
            continue;
        print_string(stdout, place->text);
        putchar('\n');
    }
    if (count > FINDING_PLACES)
        printf("    and %" PRIu64 " more\n", count - FINDING_PLACES);
    printf("    way out: %s\n", kind->way_out);
}

static void print_finding_json(const struct findings *findings, enum finding finding)
{
    const struct finding_kind *const kind = &jd_finding_kinds[finding];
    const uint64_t count = findings->of[finding].count;
    struct json json = {.to = stdout};
    json_open(&json, NULL, '{');
    json_string(&json, "finding", kind->name);
    json_string(&json, "severity", severity_names[kind->severity]);
    json_string(&json, "fact", kind->fact);
    json_number(&json, "count", count);
    json_string(&json, "text", kind->text);
    json_string(&json, "way_out", kind->way_out);
    json_open(&json, "places", '[');
    for (uint64_t i = 0; i < count && i < FINDING_PLACES; i++) {
        const struct finding_place *const place = &findings->of[finding].places[i];
        json_open(&json, NULL, '{');
        if (place->offset != FINDING_NOWHERE)
            json_number(&json, "offset", place->offset);
        json_string(&json, "text", place->text);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    json_end_line(&json);
}

/* The worst first. */
static void print_findings(const struct findings *findings, bool json)
{
    for (int severity = SEVERITY_ERROR; severity >= SEVERITY_NOTE; severity--) {
        for (unsigned i = 0; i < FINDING_COUNT; i++) {
            if (findings->of[i].count == 0 || (int)jd_finding_kinds[i].severity != severity)
                continue;
            if (json)
                print_finding_json(findings, i);
            else
                print_finding(findings, i);
        }
    }
}

/* The profile's numbers */

static void print_share(const char *name, uint64_t part, uint64_t whole)
{
    printf("  %-16s %10" PRIu64 "  %5.1f %%\n", name, part,
           whole != 0 ? 100.0 * (double)part / (double)whole : 0.0);
}

static void print_shares(const struct profile_shares *shares, const char *path)
{
    if (shares->compressed) {
        printf("%s: compressed, its samples were not looked at\n", path);
        return;
    }
    if (shares->pid == 0) {
        printf("%s: the dump's process is not in it\n", path);
        return;
    }
    printf("%s: process %u, %" PRIu64 " samples in user mode, %" PRIu64 " in generated code\n",
           path, shares->pid, shares->samples, shares->generated);
    print_share("named", shares->named, shares->generated);
    print_share("with line", shares->with_line, shares->generated);
    if (shares->stack_copies)
        printf("  %-16s perf unwinds copies of the stack; not looked at here\n", "whole chains");
    else if (shares->chains != 0)
        print_share("whole chains", shares->whole_chains, shares->chains);
    const struct {
        const char *name;
        uint64_t count;
    } causes[] = {{"hidden", shares->hidden},
                  {"before load", shares->before_load},
                  {"after life", shares->after_life},
                  {"between", shares->between},
                  {"never described", shares->never_described}};
    for (unsigned i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
        if (causes[i].count != 0)
            print_share(causes[i].name, causes[i].count, shares->generated);
}

static void print_shares_json(const struct profile_shares *shares)
{
    struct json json = {.to = stdout};
    json_open(&json, NULL, '{');
    json_number(&json, "pid", shares->pid);
    json_bool(&json, "compressed", shares->compressed);
    json_number(&json, "samples", shares->samples);
    json_number(&json, "generated", shares->generated);
    json_number(&json, "named", shares->named);
    json_number(&json, "with_line", shares->with_line);
    json_number(&json, "chains", shares->chains);
    json_number(&json, "whole_chains", shares->whole_chains);
    json_bool(&json, "stack_copies", shares->stack_copies);
    json_number(&json, "hidden", shares->hidden);
    json_number(&json, "before_load", shares->before_load);
    json_number(&json, "after_life", shares->after_life);
    json_number(&json, "between", shares->between);
    json_number(&json, "never_described", shares->never_described);
    json_close(&json, '}');
    json_end_line(&json);
}

/* One function */

struct one_function {
    uint64_t loads;
    uint64_t without_code; /* of the loads */
    uint64_t samples;
};

static struct one_function look_for(const struct history *history,
                                    const struct profile_shares *shares, const char *name)
{
    struct one_function found = {0};
    for (uint32_t i = 0; i < history->piece_count; i++) {
        const struct piece *const piece = &history->pieces[i];
        if (piece->name.size != strlen(name) ||
            memcmp(piece->name.data, name, (size_t)piece->name.size) != 0)
            continue;
        found.loads++;
        found.without_code += piece->code_size == 0;
        found.samples += shares != NULL && shares->of_piece != NULL ? shares->of_piece[i] : 0;
    }
    return found;
}

/* Why it is in the profile, or is not. */
static const char *reason_of(const struct one_function *found, const struct profile_shares *shares)
{
    if (found->loads == 0)
        return "was never loaded: 'jitdump dump' lists what was";
    if (found->without_code == found->loads)
        return "was loaded without code";
    if (shares == NULL)
        return "was loaded; give the profile too, to see whether it was sampled";
    if (shares->compressed)
        return "was loaded, but the profile is compressed";
    if (shares->pid == 0)
        return "was loaded, but the profile does not have its process";
    if (found->samples != 0)
        return "was loaded, and samples lie in it";
    return shares->generated > shares->named
               ? "was loaded, but no sample met it: is it among those that are not named, below?"
               : "was loaded, but all samples in generated code lie in other functions";
}

static int explain_function(const struct history *history, const struct profile_shares *shares,
                            const struct check_options *options)
{
    const struct one_function found = look_for(history, shares, options->function);
    const char *const reason = reason_of(&found, shares);
    if (options->json) {
        struct json json = {.to = stdout};
        json_open(&json, NULL, '{');
        json_string(&json, "function", options->function);
        json_number(&json, "loads", found.loads);
        json_number(&json, "samples", found.samples);
        json_string(&json, "text", reason);
        json_close(&json, '}');
        json_end_line(&json);
    } else {
        print_string(stdout, options->function);
        printf(": %s", reason);
        if (found.loads != 0)
            printf(" (loads: %" PRIu64 ", samples: %" PRIu64 ")", found.loads, found.samples);
        putchar('\n');
    }
    return found.samples != 0 || (found.loads != found.without_code && shares == NULL) ? STATUS_OK
                                                                                      : STATUS_NO;
}

static int report(const struct check_options *options, const struct findings *findings,
                  const struct history *history, const struct profile_shares *shares)
{
    int status = jd_findings_worst(findings) > SEVERITY_NOTE ? STATUS_NO : STATUS_OK;
    if (options->quiet && options->function == NULL)
        return status;
    if (options->function != NULL)
        status = explain_function(history, shares, options);
    if (options->quiet)
        return status;
    print_findings(findings, options->json);
    if (jd_findings_worst(findings) > SEVERITY_NOTE && !options->json)
        printf("more, by symptom: man jitdump-troubleshooting, or docs/troubleshooting.md\n");
    if (shares != NULL && options->json)
        print_shares_json(shares);
    else if (shares != NULL)
        print_shares(shares, options->profile);
    else if (jd_findings_worst(findings) < 0 && !options->json)
        printf("%s: %u functions, nothing to complain about\n", options->dump,
               history->piece_count);
    return status;
}

/* Reading */

static int no_memory(void)
{
    complain("out of memory");
    return STATUS_TROUBLE;
}

static int check_profile(const struct check_options *options, struct findings *findings,
                         const struct history *history)
{
    struct mapped_file file;
    if (!open_file(&file, options->profile))
        return STATUS_TROUBLE;
    struct perf_data data;
    struct profile_shares shares = {0};
    int status = STATUS_TROUBLE;
    const enum perf_data_error error =
        jd_perf_data_init(&data, (struct span){file.data, file.size});
    if (error == PERF_DATA_NO_MEMORY) {
        no_memory();
    } else if (error == PERF_DATA_NOT_READABLE) {
        complain("%s: %s (at 0x%" PRIx64 ")", options->profile, data.reason, data.offset);
    } else {
        struct parent_dumps parents;
        const bool opened =
            parent_dumps_open(&parents, options->dump, history->reader.header.pid, &data);
        const enum profile_check result =
            opened ? jd_check_profile(findings, &shares, history, parents.code, parents.count, &data)
                   : PROFILE_NO_MEMORY;
        if (result == PROFILE_CHECKED)
            status = report(options, findings, history, &shares);
        else if (result == PROFILE_NO_MEMORY)
            no_memory();
        else
            complain("%s: %s (at 0x%" PRIx64 ")", options->profile, data.reason, data.offset);
        parent_dumps_close(&parents);
    }
    free(shares.of_piece);
    jd_perf_data_free(&data);
    jd_mapped_file_close(&file);
    return status;
}

static int check_file(const struct check_options *options)
{
    struct mapped_file file;
    if (!open_file(&file, options->dump))
        return STATUS_TROUBLE;
    const struct problems problems = {.progress = progress_reading};
    struct history history;
    int status = STATUS_TROUBLE;
    if (read_history(&history, &file, options->dump, &problems)) {
        struct findings *const findings = calloc(1, sizeof(*findings));
        if (findings == NULL || !jd_check_dump(findings, &history, &file, options->dump))
            no_memory();
        else
            status = options->profile != NULL ? check_profile(options, findings, &history)
                                              : report(options, findings, &history, NULL);
        free(findings);
        jd_history_free(&history);
    }
    jd_mapped_file_close(&file);
    return status;
}

int check_command(int argc, char **argv)
{
    static const struct option long_options[] = {{"function", required_argument, NULL, 'f'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {"quiet", no_argument, NULL, 'q'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    struct check_options options = {0};
    int option;
    while ((option = getopt_long(argc, argv, "f:jqh", long_options, NULL)) != -1) {
        switch (option) {
        case 'f':
            options.function = optarg;
            break;
        case 'j':
            options.json = true;
            break;
        case 'q':
            options.quiet = true;
            break;
        case 'h':
            fputs(help, stdout);
            return STATUS_OK;
        default:
            return point_to_help(argv[0]);
        }
    }
    if (optind == argc || argc - optind > 2) {
        complain(optind == argc ? "which dump?" : "more than a dump and a profile");
        return point_to_help(argv[0]);
    }
    options.dump = argv[optind];
    options.profile = argc - optind == 2 ? argv[optind + 1] : NULL;
    return check_file(&options);
}
