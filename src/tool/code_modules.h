/*
 * The modules that a dump's code is shown as in crash reports: which there are, and their names.
 */
#ifndef JITDUMP_TOOL_CODE_MODULES_H
#define JITDUMP_TOOL_CODE_MODULES_H

#include "tool/instant.h"

#include "reader/minidump.h"
#include "writers/breakpad_writer.h"

#include <stdio.h>

struct code_modules {
    struct code_regions regions;
    struct breakpad_module *modules; /* one of each region */
    char name[32];                   /* of all */
};

/* Divides the instant's pieces, which are the modules' from then on, as code_regions_divide() does; the
 * modules have no build id yet. False,
 * with a complaint, if there is no module; the modules are to be freed in any case. `elsewhere` says
 * where pieces are that are in none. */
bool code_modules_find(struct code_modules *modules, struct instant *instant,
                       const struct memory_map *map, bool joined, const char *elsewhere);

/* By a minidump, of which the dump's process must be, and where it has no modules yet. */
bool code_modules_find_in(struct code_modules *modules, struct instant *instant,
                          const struct minidump *minidump, const char *minidump_path);

void code_modules_free(struct code_modules *modules);

/* NAME/ID/NAME.sym. NULL, with a complaint: out of memory. */
char *code_module_path(const struct breakpad_module *module);

/* A line for each on standard output: its base and path. False, with a complaint: out of memory. */
bool code_modules_print(const struct breakpad_module *modules, size_t count);

/* False, with a complaint: it can't be read. The minidump and the file are to be freed and closed in any
 * case. */
bool open_minidump(struct mapped_file *file, struct minidump *minidump, const char *path);

#endif
