/*
 * The sources that a dump has in itself, as files: perf annotate shows them.
 */
#ifndef JITDUMP_TOOL_INJECT_SOURCES_H
#define JITDUMP_TOOL_INJECT_SOURCES_H

#include "tool/inject_dumps.h"
#include "tool/output_folder.h"

#include "writers/described_texts.h"

struct injected_sources {
    struct renamed_file *files;
    struct renamed_files renamed; /* where each of the dump's paths is */
};

/* Writes them into jit-<pid>.source/<number>/ of the folder, under their own names. Those that can't
 * be written have a complaint, and keep their paths. `number` tells a process's dumps apart. False: out
 * of memory, with a complaint. */
bool injected_sources_write(struct injected_sources *sources, struct output_folder *folder,
                            const struct injected_dump *dump, uint64_t number);
void injected_sources_free(struct injected_sources *sources);

#endif
