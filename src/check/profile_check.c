#include "check/profile_check.h"

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

    /* Lives by address, and of each the highest end of it and those before: what may cover an address
     * is found by going back until none can. */
    const struct life **lives;
    uint64_t *highest_end;
    /* What is to be added to the dump's times, or, for TSC, how they become the profile's. */
    bool converts;
    uint64_t shift;
    /* Whether the dump's times and the profile's can be compared. */
    bool comparable;
    /* How early a sample may seem to be. */
    uint64_t tolerance;
};

/* Between the time in a dump's header and the dump's mapping, by which the shift is too large: tens of
 * microseconds, and milliseconds where the process lost its processor just then. */
#define SHIFT_TOLERANCE 10000000 /* ns */

static int by_address(const void *left, const void *right)
{
    const struct life *const a = *(const struct life *const *)left;
    const struct life *const b = *(const struct life *const *)right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static bool sort_lives(struct checking *checking)
{
    const struct history *const history = checking->history;
    checking->lives = malloc((history->life_count + (size_t)1) * sizeof(*checking->lives));
    checking->highest_end =
        malloc((history->life_count + (size_t)1) * sizeof(*checking->highest_end));
    checking->shares->of_piece =
        calloc(history->piece_count + (size_t)1, sizeof(*checking->shares->of_piece));
    if (checking->lives == NULL || checking->highest_end == NULL ||
        checking->shares->of_piece == NULL)
        return false;
    for (uint32_t i = 0; i < history->life_count; i++)
        checking->lives[i] = &history->lives[i];
    qsort(checking->lives, history->life_count, sizeof(*checking->lives), by_address);
    uint64_t highest = 0;
    for (uint32_t i = 0; i < history->life_count; i++) {
        const uint64_t end = checking->lives[i]->address + life_size(history, checking->lives[i]);
        highest = end > highest ? end : highest;
        checking->highest_end[i] = highest;
    }
    return true;
}

/* Clocks */

/* A time of the dump as a time of the profile. */
static uint64_t in_profile(const struct checking *checking, uint64_t time)
{
    const struct process_view *const view = &checking->view;
    if (time == UINT64_MAX)
        return time;
    if (!checking->converts)
        return time + checking->shift;
    const uint64_t quotient = time >> view->time_shift;
    const uint64_t remainder = time & ((UINT64_C(1) << view->time_shift) - 1);
    return view->time_zero + quotient * view->time_mult +
           (remainder * view->time_mult >> view->time_shift);
}

static void check_clock(struct checking *checking, const struct perf_data *data)
{
    const struct jitdump_file_header *const header = &checking->history->reader.header;
    const struct process_view *const view = &checking->view;
    const struct perf_attr *const attr = &data->attrs[0];
    checking->comparable = true;
    if ((header->flags & JITDUMP_FLAGS_ARCH_TIMESTAMP) != 0) {
        checking->converts = view->has_conversion;
        checking->comparable = view->has_conversion;
        if (!view->has_conversion)
            jd_finding_add(checking->findings, FINDING_TIME_CONVERSION, FINDING_NOWHERE, "%s", "");
        return;
    }
    if ((attr->flags & PERF_ATTR_USE_CLOCKID) != 0 && attr->clockid == PERF_CLOCK_MONOTONIC)
        return;
    jd_finding_add(checking->findings, FINDING_CLOCK, attr->offset, "%s", "");
    /* The dump is mapped just behind the moment that its header has, unless that is of another clock
     * (V8). */
    checking->comparable = view->dump.offset != 0 && view->dump.time != 0 &&
                           header->timestamp <= checking->history->first_timestamp;
    checking->tolerance = SHIFT_TOLERANCE;
    checking->shift = view->dump.time - header->timestamp;
}

/* Where a sample lies */

/* The life at the address at that time; NULL: none. `other` is then one that was there at another
 * time, the nearest by time, or NULL. */
static const struct life *find_life(const struct checking *checking, uint64_t address,
                                    uint64_t time, const struct life **other)
{
    uint32_t low = 0, high = checking->history->life_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (checking->lives[middle]->address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    uint64_t nearest = UINT64_MAX;
    *other = NULL;
    while (low > 0 && checking->highest_end[low - 1] > address) {
        const struct life *const life = checking->lives[--low];
        if (address - life->address >= life_size(checking->history, life))
            continue;
        const uint64_t begin = in_profile(checking, life->begin);
        const uint64_t end = in_profile(checking, life->end);
        if (!checking->comparable || (begin <= time && time < end))
            return life;
        const uint64_t distance = time < begin ? begin - time : time - end;
        if (distance < nearest) {
            nearest = distance;
            *other = life;
        }
    }
    if (*other != NULL && time < in_profile(checking, (*other)->begin) &&
        nearest <= checking->tolerance)
        return *other;
    return NULL;
}

/* A file that was mapped over the code while it lay there (P17). */
static const struct viewed_mapping *hiding(const struct checking *checking,
                                           const struct life *life, uint64_t address,
                                           uint64_t time)
{
    const struct viewed_mapping *const mapping =
        jd_process_view_at(&checking->view, time, address);
    if (!checking->comparable || mapping == NULL || !mapping->executable ||
        jd_is_anonymous(mapping->name) || mapping->time <= in_profile(checking, life->begin))
        return NULL;
    return mapping;
}

static bool has_line(struct checking *checking, const struct life *life, uint64_t address)
{
    const struct piece *const piece = &checking->history->pieces[life->piece];
    struct description *const description = &checking->description;
    if (!jd_description_read(description, checking->history, piece, NULL))
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
        const struct life *other;
        in_file = false;
        if (find_life(checking, address, sample->time, &other) != NULL)
            continue;
        const struct viewed_mapping *const mapping =
            jd_process_view_at(&checking->view, sample->time, address);
        if (mapping == NULL || jd_is_anonymous(mapping->name))
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
        const struct life *other;
        memcpy(&address, sample->chain.data + at, sizeof(address));
        if (address < PERF_CONTEXT_MAX &&
            find_life(checking, address, sample->time, &other) != NULL)
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
    if (other != NULL && sample->time < in_profile(checking, other->begin)) {
        const uint64_t early = in_profile(checking, other->begin) - sample->time;
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
    if (mapping != NULL && !jd_is_anonymous(mapping->name))
        return;
    /* Is there any function in the same mapping? */
    bool described = false;
    for (uint32_t i = 0; mapping != NULL && !described && i < checking->history->life_count; i++)
        described = checking->lives[i]->address >= mapping->begin &&
                    checking->lives[i]->address < mapping->end;
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
    const struct life *other;
    const struct life *const life = find_life(checking, sample->ip, sample->time, &other);
    if (life == NULL) {
        shares->below += is_below(checking, sample);
        check_unknown(checking, sample, other);
        return;
    }
    const struct viewed_mapping *const over = hiding(checking, life, sample->ip, sample->time);
    if (over != NULL) {
        shares->hidden++;
        jd_finding_add(checking->findings, FINDING_HIDDEN, over->offset, "%.*s",
                       over->name.size < 120 ? (int)over->name.size : 120,
                       (const char *)over->name.data);
        return;
    }
    shares->named++;
    shares->of_piece[life->piece]++;
    shares->with_line += has_line(checking, life, sample->ip);
    if (sample->chain.size != 0 && !checking->view.stack_copies) {
        shares->chains++;
        shares->whole_chains += is_whole(checking, sample);
    }
}

static enum profile_check check(struct checking *checking, struct perf_data *data)
{
    struct process_view *const view = &checking->view;
    struct profile_shares *const shares = checking->shares;
    const uint32_t dump_pid = checking->history->reader.header.pid;
    if (!sort_lives(checking))
        return PROFILE_NO_MEMORY;
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
    check_clock(checking, data);
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
                                    const struct history *history, struct perf_data *data)
{
    *shares = (struct profile_shares){0};
    struct checking checking = {.findings = findings, .shares = shares, .history = history};
    const enum profile_check result = check(&checking, data);
    jd_process_view_free(&checking.view);
    jd_description_free(&checking.description);
    free(checking.lives);
    free(checking.highest_end);
    return result;
}
