#include "check/profile_check.h"

#include "check/known_code.h"
#include "check/process_view.h"
#include "reader/read_description.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct checking {
    struct findings *findings;
    struct profile_shares *shares;
    const struct history *history;
    struct process_view view;
    struct description description;

    /* The process's own code first, then that of those it was forked from, the nearest first. */
    struct known_code known[1 + VIEW_ANCESTORS];
    unsigned int known_count;
};

/* Between the time in a dump's header and the dump's mapping, by which the shift is too large: tens of
 * microseconds, and milliseconds where the process lost its processor just then. */
#define SHIFT_TOLERANCE 10000000 /* ns */

/* Clocks */

static bool is_monotonic(const struct perf_data *data)
{
    const struct perf_attr *const attr = &data->attrs[0];
    return (attr->flags & PERF_ATTR_USE_CLOCKID) != 0 && attr->clockid == PERF_CLOCK_MONOTONIC;
}

static void convert(struct known_times *times, const struct process_view *view)
{
    times->conversion = view->conversion;
    times->comparable = view->conversion.known;
}

static void check_clock(struct checking *checking, const struct perf_data *data)
{
    const struct jitdump_file_header *const header = &checking->history->reader.header;
    const struct process_view *const view = &checking->view;
    struct known_times *const times = &checking->known[0].times;
    if ((header->flags & JITDUMP_FLAGS_ARCH_TIMESTAMP) != 0) {
        convert(times, view);
        if (!view->conversion.known)
            jd_finding_add(checking->findings, FINDING_TIME_CONVERSION, FINDING_NOWHERE, "%s", "");
        return;
    }
    times->comparable = true;
    if (is_monotonic(data))
        return;
    jd_finding_add(checking->findings, FINDING_CLOCK, data->attrs[0].offset, "%s", "");
    /* The dump is mapped just behind the moment that its header has, unless that is of another clock
     * (V8). */
    times->comparable = view->dump.offset != 0 && view->dump.time != 0 &&
                        header->timestamp <= checking->history->first_timestamp;
    times->tolerance = SHIFT_TOLERANCE;
    times->shift = view->dump.time - header->timestamp;
}

/* The clock of inherited code. If its times can't be compared with the profile's, code counts
 * that lay there at any time. */
static void set_inherited_clock(struct checking *checking, const struct perf_data *data,
                                struct known_code *code)
{
    if ((code->history->reader.header.flags & JITDUMP_FLAGS_ARCH_TIMESTAMP) != 0)
        convert(&code->times, &checking->view);
    else
        code->times.comparable = is_monotonic(data);
}

/* Where a sample lies */

/* The life at the address at that time, and in `known` whose it is; NULL: none. `other` is then one of the
 * process's own that was there at another time, the nearest by time, or NULL. */
static const struct life *find_life(const struct checking *checking, uint64_t address,
                                    uint64_t time, const struct known_code **known,
                                    const struct life **other)
{
    const struct life *others;
    for (unsigned int i = 0; i < checking->known_count; i++) {
        *known = &checking->known[i];
        const struct life *const life =
            jd_known_code_at(*known, address, time, i == 0 ? other : &others);
        if (life != NULL)
            return life;
    }
    return NULL;
}

/* A file that was mapped over the code while it lay there (P17). */
static const struct viewed_mapping *hiding(const struct checking *checking,
                                           const struct known_code *known,
                                           const struct life *life, uint64_t address,
                                           uint64_t time)
{
    const struct viewed_mapping *const mapping =
        jd_process_view_at(&checking->view, time, address);
    if (!known->times.comparable || mapping == NULL || !mapping->executable ||
        jd_perf_is_anonymous(mapping->name) ||
        mapping->time <= jd_known_time(&known->times, life->begin))
        return NULL;
    return mapping;
}

static bool has_line(struct checking *checking, const struct known_code *known,
                     const struct life *life, uint64_t address)
{
    const struct piece *const piece = &known->history->pieces[life->piece];
    struct description *const description = &checking->description;
    if (!jd_description_read(description, known->history, piece, NULL))
        return false;
    const struct line_row *const row =
        jd_description_row_at(description, (uint32_t)(address - life->address));
    return row != NULL && row->line != 0;
}

/* Each frame is known, and the outermost is in a file: the program's start, or a thread's. */
static bool is_whole(const struct checking *checking, const struct viewed_sample *sample)
{
    bool user = false, in_file = false;
    for (uint64_t at = 0; at + 8 <= sample->chain.size; at += 8) {
        uint64_t address;
        memcpy(&address, sample->chain.data + at, sizeof(address));
        if (address >= PERF_CONTEXT_MAX) {
            user = address == PERF_CONTEXT_USER;
            continue;
        }
        if (!user)
            continue;
        const struct known_code *known;
        const struct life *other;
        in_file = false;
        if (find_life(checking, address, sample->time, &known, &other) != NULL)
            continue;
        const struct viewed_mapping *const mapping =
            jd_process_view_at(&checking->view, sample->time, address);
        if (mapping == NULL || jd_perf_is_anonymous(mapping->name))
            return false;
        in_file = true;
    }
    return in_file;
}

/* Whether a function that is known has called it. */
static bool is_below(const struct checking *checking, const struct viewed_sample *sample)
{
    for (uint64_t at = 0; at + 8 <= sample->chain.size; at += 8) {
        uint64_t address;
        const struct known_code *known;
        const struct life *other;
        memcpy(&address, sample->chain.data + at, sizeof(address));
        if (address < PERF_CONTEXT_MAX &&
            find_life(checking, address, sample->time, &known, &other) != NULL)
            return true;
    }
    return false;
}

/* `when`: in relation to the life. */
static void tell_sample(struct checking *checking, enum finding finding,
                        const struct viewed_sample *sample, const char *when,
                        const struct life *life)
{
    const struct span name = checking->history->pieces[life->piece].name;
    jd_finding_add(checking->findings, finding, FINDING_NOWHERE, "0x%" PRIx64 ", %s %.*s",
                   sample->ip, when, name.size < 80 ? (int)name.size : 80,
                   (const char *)name.data);
}

/* A sample in memory of no file, where nothing is known to have been at its time. */
static void check_unknown(struct checking *checking, const struct viewed_sample *sample,
                          const struct life *other)
{
    struct profile_shares *const shares = checking->shares;
    const struct known_code *const own = &checking->known[0];
    if (other != NULL && sample->time < jd_known_time(&own->times, other->begin)) {
        const uint64_t early = jd_known_time(&own->times, other->begin) - sample->time;
        char when[48];
        snprintf(when, sizeof(when), "%" PRIu64 ".%03u ms before the load of", early / 1000000,
                 (unsigned)(early / 1000 % 1000));
        shares->before_load++;
        tell_sample(checking, FINDING_BEFORE_LOAD, sample, when, other);
        return;
    }
    if (other != NULL) {
        shares->after_life++;
        tell_sample(checking, FINDING_AFTER_LIFE, sample, "after the end of", other);
        return;
    }
    const struct viewed_mapping *const mapping =
        jd_process_view_at(&checking->view, sample->time, sample->ip);
    if (mapping != NULL && !jd_perf_is_anonymous(mapping->name))
        return;
    /* Is there any function in the same mapping? */
    const bool described =
        mapping != NULL && jd_known_code_in(own, mapping->begin, mapping->end);
    if (described)
        shares->between++;
    else
        shares->never_described++;
    jd_finding_add(checking->findings, described ? FINDING_BETWEEN : FINDING_NEVER_DESCRIBED,
                   FINDING_NOWHERE, "0x%" PRIx64, sample->ip);
}

static void check_sample(struct checking *checking, const struct viewed_sample *sample)
{
    struct profile_shares *const shares = checking->shares;
    const struct known_code *known;
    const struct life *other;
    const struct life *const life =
        find_life(checking, sample->ip, sample->time, &known, &other);
    if (life == NULL) {
        shares->below += is_below(checking, sample);
        check_unknown(checking, sample, other);
        return;
    }
    const struct viewed_mapping *const over = hiding(checking, known, life, sample->ip, sample->time);
    if (over != NULL) {
        shares->hidden++;
        jd_finding_add(checking->findings, FINDING_HIDDEN, over->offset, "%.*s",
                       over->name.size < 120 ? (int)over->name.size : 120,
                       (const char *)over->name.data);
        return;
    }
    shares->named++;
    known->of_piece[life->piece]++;
    shares->with_line += has_line(checking, known, life, sample->ip);
    if (sample->chain.size != 0 && !checking->view.stack_copies) {
        shares->chains++;
        shares->whole_chains += is_whole(checking, sample);
    }
}

static void give_counts(struct checking *checking, struct inherited_code *inherited,
                        uint32_t inherited_count)
{
    checking->shares->of_piece = checking->known[0].of_piece;
    for (unsigned int i = 1; i < checking->known_count; i++)
        for (uint32_t k = 0; k < inherited_count; k++)
            if (inherited[k].history == checking->known[i].history)
                inherited[k].of_piece = checking->known[i].of_piece;
    for (unsigned int i = 0; i < checking->known_count; i++)
        jd_known_code_free(&checking->known[i]);
}

/* A broken profile may say that a process is its own ancestor. */
static bool is_known(const struct checking *checking, const struct history *history)
{
    for (unsigned int i = 0; i < checking->known_count; i++)
        if (checking->known[i].history == history)
            return true;
    return false;
}

/* What lies in the process. False: out of memory. */
static bool know(struct checking *checking, const struct perf_data *data,
                 const struct inherited_code *inherited, uint32_t inherited_count)
{
    const struct process_view *const view = &checking->view;
    struct known_code *const own = &checking->known[checking->known_count++];
    own->history = checking->history;
    own->until = UINT64_MAX;
    check_clock(checking, data);
    if (!jd_known_code_init(own))
        return false;
    for (uint32_t i = 1; i < view->ancestor_count; i++) {
        uint32_t k = 0;
        while (k < inherited_count && inherited[k].pid != view->ancestors[i].pid)
            k++;
        if (k == inherited_count || is_known(checking, inherited[k].history))
            continue;
        struct known_code *const code = &checking->known[checking->known_count++];
        code->history = inherited[k].history;
        code->until = view->ancestors[i].until;
        set_inherited_clock(checking, data, code);
        if (!jd_known_code_init(code))
            return false;
    }
    return true;
}

static enum profile_check check(struct checking *checking, struct perf_data *data,
                                const struct inherited_code *inherited, uint32_t inherited_count)
{
    struct process_view *const view = &checking->view;
    struct profile_shares *const shares = checking->shares;
    const uint32_t dump_pid = checking->history->reader.header.pid;
    const enum view_error error = jd_process_view_read(view, data, dump_pid);
    if (error != VIEW_OK)
        return error == VIEW_NO_MEMORY ? PROFILE_NO_MEMORY : PROFILE_UNREADABLE;
    if (view->compressed) {
        shares->compressed = true;
        jd_finding_add(checking->findings, FINDING_COMPRESSED, FINDING_NOWHERE, "%s", "");
        return PROFILE_CHECKED;
    }
    if (view->lost != 0)
        jd_finding_add(checking->findings, FINDING_LOST, FINDING_NOWHERE, "%" PRIu64 " of them",
                       view->lost);
    if (view->dump.offset == 0)
        jd_finding_add(checking->findings, FINDING_NO_MAPPING, FINDING_NOWHERE, "jit-%u.dump",
                       dump_pid);
    else if (view->pid != dump_pid)
        jd_finding_add(checking->findings, FINDING_OTHER_NAMESPACE, view->dump.offset,
                       "%u in the profile, %u in the dump", view->pid, dump_pid);
    if (!know(checking, data, inherited, inherited_count))
        return PROFILE_NO_MEMORY;
    for (uint32_t i = 0; i < view->sample_count; i++)
        check_sample(checking, &view->samples[i]);
    shares->pid = view->dump.offset != 0 || view->sample_count != 0 ? view->pid : 0;
    shares->samples = view->sample_count;
    shares->stack_copies = view->stack_copies;
    shares->generated = shares->named + shares->hidden + shares->before_load +
                        shares->after_life + shares->between + shares->never_described;
    return PROFILE_CHECKED;
}

enum profile_check jd_check_profile(struct findings *findings, struct profile_shares *shares,
                                    const struct history *history,
                                    struct inherited_code *inherited, uint32_t inherited_count,
                                    struct perf_data *data)
{
    *shares = (struct profile_shares){0};
    struct checking checking = {.findings = findings, .shares = shares, .history = history};
    const enum profile_check result = check(&checking, data, inherited, inherited_count);
    give_counts(&checking, inherited, inherited_count);
    jd_process_view_free(&checking.view);
    jd_description_free(&checking.description);
    return result;
}
