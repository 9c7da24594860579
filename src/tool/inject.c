#define _GNU_SOURCE
#include "tool/inject.h"

#include "tool/inject_files.h"
#include "tool/inject_input.h"
#include "tool/inject_undescribed.h"
#include "tool/messages.h"
#include "tool/unfinished.h"
#include "tool/whole_file.h"

#include "inject/hidden_code.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct injecting {
    const struct inject_request *request;
    struct inject_summary *summary;
    struct perf_data data;
    struct profile_scan scan;
    struct injected_dumps dumps;
    struct undescribed undescribed;
    struct injected_files files;
    struct sample_marks *marks; /* of each of the dumps */
    uint32_t mark_count;
    struct hiding_events hiding;
};

static bool no_memory(void)
{
    complain("out of memory");
    return false;
}

static bool unreadable(const struct injecting *injecting)
{
    complain("%s: at offset 0x%" PRIx64 ": %s", injecting->request->profile,
             injecting->data.offset, injecting->data.reason);
    return false;
}

static bool mark_samples(struct injecting *injecting)
{
    uint32_t count = 0;
    for (const struct injected_dump *dump = injecting->dumps.first; dump != NULL;
         dump = dump->next)
        count++;
    injecting->marks = calloc(count + (size_t)1, sizeof(*injecting->marks));
    if (injecting->marks == NULL)
        return no_memory();
    for (struct injected_dump *dump = injecting->dumps.first; dump != NULL; dump = dump->next) {
        struct sample_marks *const marks = &injecting->marks[injecting->mark_count++];
        dump->marks = marks;
        if (!jd_sample_marks_init(marks, &dump->history, &dump->clock, dump->pid))
            return no_memory();
    }
    return jd_sample_marks_read(injecting->marks, count, &injecting->scan, &injecting->data) ||
           no_memory();
}

static bool inject_dumps(struct injecting *injecting)
{
    struct inject_summary *const summary = injecting->summary;
    for (struct injected_dump *dump = injecting->dumps.first; dump != NULL; dump = dump->next) {
        if (!injected_files_add(&injecting->files, &injecting->scan, &injecting->dumps, dump))
            return false;
        summary->dumps++;
        summary->functions += dump->history.piece_count;
    }
    injected_files_sort(&injecting->files);
    summary->files = injecting->files.file_count;
    summary->mappings = injecting->files.mapping_count;
    return true;
}

static bool find_hiding(struct injecting *injecting)
{
    for (const struct injected_dump *dump = injecting->dumps.first; dump != NULL;
         dump = dump->next)
        if (!jd_hiding_events_add(&injecting->hiding, &injecting->scan, &dump->history,
                                  &dump->clock, dump->pid, &injecting->files.holes))
            return no_memory();
    jd_hiding_events_sort(&injecting->hiding);
    return true;
}

/* The profile */

/* perf makes profiles for their owner alone; so is what is made of one. */
static void keep_private(const char *profile, int fd)
{
    struct stat status;
    if (stat(profile, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
        fchmod(fd, status.st_mode & 0666);
}

/* Both names change, or none does. */
static bool finish(struct injecting *injecting, struct whole_file *output)
{
    /* An old profile must not have the new files. */
    unlink(injecting->request->output);
    if (!output_folder_finish(&injecting->files.folder)) {
        whole_file_drop(output);
        return false;
    }
    if (!whole_file_finish(output))
        return false;
    output_folder_keep(&injecting->files.folder);
    return true;
}

static bool write_profile(struct injecting *injecting)
{
    struct whole_file output;
    if (!whole_file_open(&output, injecting->request->output))
        return false;
    keep_private(injecting->request->profile, output.fd);
    const enum profile_write_error error =
        jd_profile_write(output.fd, &injecting->data, injecting->files.mappings,
                         injecting->files.mapping_count, injecting->hiding.offsets,
                         injecting->hiding.count);
    if (error == PROFILE_NOT_READABLE)
        unreadable(injecting);
    else if (error != PROFILE_WRITTEN)
        complain("%s: %s", injecting->request->output, strerror(errno));
    if (error != PROFILE_WRITTEN) {
        whole_file_drop(&output);
        return false;
    }
    sigset_t before;
    unfinished_hold(&before);
    const bool finished = finish(injecting, &output);
    unfinished_release(&before);
    return finished;
}

static bool inject_all(struct injecting *injecting)
{
    if (!injected_files_open(&injecting->files, injecting->request))
        return false;
    const bool injected = mark_samples(injecting) && inject_dumps(injecting) && find_hiding(injecting) &&
                          write_profile(injecting);
    injected_files_free(&injecting->files);
    return injected;
}

/* Whether anything can be put into the profile. */
static bool is_fit(const struct injecting *injecting)
{
    const char *const profile = injecting->request->profile;
    if (injecting->scan.stack_copies &&
        (injecting->request->only_sampled || injecting->request->by_name))
        complain("%s: has copies of the stack (perf record --call-graph dwarf), for which all code "
                 "is needed in its place: leave out --%s", profile,
                 injecting->request->by_name ? "by-name" : "only-sampled");
    else if (!injecting->scan.has_times)
        complain("%s: has no times: perf record --timestamp", profile);
    else
        return true;
    return false;
}

static bool inject_profile(struct injecting *injecting, struct span file)
{
    const enum perf_data_error error = jd_perf_data_init(&injecting->data, file);
    if (error != PERF_DATA_OK)
        return error == PERF_DATA_NO_MEMORY ? no_memory() : unreadable(injecting);
    const enum scan_error scanned = jd_profile_scan(&injecting->scan, &injecting->data);
    if (scanned != SCAN_OK)
        return scanned == SCAN_NO_MEMORY ? no_memory() : unreadable(injecting);
    if (!is_fit(injecting) || !injected_dumps_read(&injecting->dumps, injecting->request,
                                                   &injecting->scan, &injecting->data))
        return false;
    injecting->summary->missing = injecting->dumps.missing;
    injecting->summary->dumps = injecting->dumps.missing;
    if (!find_undescribed(&injecting->undescribed, injecting->request, &injecting->dumps, &injecting->scan,
                          &injecting->data))
        return no_memory();
    if (!inject_all(injecting))
        return false;
    injecting->summary->told_undescribed = tell_undescribed(&injecting->undescribed);
    return true;
}

/* What perf has recorded can't be recorded again. */
static bool is_another(const struct inject_request *request)
{
    struct stat from, to;
    if (strcmp(request->profile, "-") == 0 || stat(request->profile, &from) != 0 ||
        stat(request->output, &to) != 0 || from.st_dev != to.st_dev || from.st_ino != to.st_ino)
        return true;
    complain("%s: is the profile to be read; give the new one another name", request->output);
    return false;
}

bool inject(const struct inject_request *request, struct inject_summary *summary)
{
    struct injecting injecting = {.request = request, .summary = summary};
    struct mapped_file file;
    *summary = (struct inject_summary){0};
    if (!is_another(request) || !open_profile(&file, request->profile))
        return false;
    const bool injected = inject_profile(&injecting, (struct span){file.data, file.size});
    injected_dumps_free(&injecting.dumps);
    jd_undescribed_free(&injecting.undescribed);
    jd_profile_scan_free(&injecting.scan);
    jd_perf_data_free(&injecting.data);
    for (uint32_t i = 0; i < injecting.mark_count; i++)
        jd_sample_marks_free(&injecting.marks[i]);
    free(injecting.marks);
    jd_hiding_events_free(&injecting.hiding);
    jd_mapped_file_close(&file);
    return injected;
}
