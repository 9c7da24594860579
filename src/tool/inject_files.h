/*
 * The ELF files of a profile, and the mappings that perf is to know of them.
 */
#ifndef JITDUMP_TOOL_INJECT_FILES_H
#define JITDUMP_TOOL_INJECT_FILES_H

#include "tool/inject_dumps.h"
#include "tool/output_folder.h"

#include "inject/profile_writer.h"
#include "inject/ranges.h"

struct injected_files {
    const struct inject_request *request;
    struct output_folder folder;
    struct profile_mapping *mappings; /* in no order */
    uint64_t mapping_count;
    uint64_t mapping_capacity;
    char **paths; /* what the mappings name */
    uint64_t file_count;
    uint64_t path_capacity;
    struct ranges holes; /* of the address spaces, where unwinding data were put */
};

/* The request stays. False, with a complaint, if files can't be put into its folder. */
bool injected_files_open(struct injected_files *files, const struct inject_request *request);

/* Writes the files of one of the dumps. False, with a complaint: they can't be. */
bool injected_files_add(struct injected_files *files, const struct profile_scan *scan,
                        const struct injected_dumps *dumps, struct injected_dump *dump);

/* The mappings by time. */
void injected_files_sort(struct injected_files *files);

/* After output_folder_keep(files->folder), or to leave nothing behind. */
void injected_files_free(struct injected_files *files);

#endif
