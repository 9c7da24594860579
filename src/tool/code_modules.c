#define _GNU_SOURCE /* asprintf */
#include "tool/code_modules.h"

#include "tool/input.h"
#include "tool/messages.h"

#include <inttypes.h>
#include <stdlib.h>

bool code_modules_find(struct code_modules *modules, struct instant *instant,
                       const struct memory_map *map, bool joined, const char *elsewhere)
{
    const struct history *const history = &instant->history;
    struct code_regions *const regions = &modules->regions;
    *modules = (struct code_modules){.modules = NULL};
    snprintf(modules->name, sizeof(modules->name), "jit-%" PRIu32, history->reader.header.pid);
    struct placed *const pieces = instant->pieces;
    instant->pieces = NULL;
    if (!code_regions_divide(regions, map, joined, pieces, instant->count)) {
        complain("out of memory");
        return false;
    }
    if (regions->outside > 0)
        complain("%s: %zu of %zu functions are left out: they lie %s; the first at %#" PRIx64,
                 instant->dump, regions->outside, instant->count, elsewhere, regions->outside_at);
    if (regions->count == 0) {
        complain("%s: there is no code%s", instant->dump,
                 regions->outside > 0 ? " left" : " at that time");
        return false;
    }
    modules->modules = calloc(regions->count, sizeof(*modules->modules));
    if (modules->modules == NULL) {
        complain("out of memory");
        return false;
    }
    for (size_t i = 0; i < regions->count; i++) {
        modules->modules[i] = (struct breakpad_module){
            .history = history, .region = regions->regions[i], .name = modules->name};
    }
    return true;
}

bool code_modules_find_in(struct code_modules *modules, struct instant *instant,
                          const struct minidump *minidump, const char *minidump_path)
{
    *modules = (struct code_modules){.modules = NULL};
    const uint32_t pid = instant->history.reader.header.pid;
    if (!jd_minidump_has_pid(minidump, pid)) {
        complain("%s: is of process %" PRIu32 ", but %s is of process %" PRIu32, instant->dump, pid,
                 minidump_path, minidump->pids[0]);
        return false;
    }
    return code_modules_find(modules, instant, &minidump->map, true,
                             "where nothing was mapped, or in a module that the minidump has "
                             "already");
}

void code_modules_free(struct code_modules *modules)
{
    code_regions_free(&modules->regions);
    free(modules->modules);
    modules->modules = NULL;
}

char *code_module_path(const struct breakpad_module *module)
{
    char id[BREAKPAD_ID_SIZE];
    char *path;
    breakpad_id(module, id);
    if (asprintf(&path, "%s/%s/%s.sym", module->name, id, module->name) >= 0)
        return path;
    complain("out of memory");
    return NULL;
}

bool code_modules_print(const struct breakpad_module *modules, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *const path = code_module_path(&modules[i]);
        if (path == NULL)
            return false;
        printf("0x%" PRIx64 " %s\n", modules[i].region.base, path);
        free(path);
    }
    return true;
}

bool open_minidump(struct mapped_file *file, struct minidump *minidump, const char *path)
{
    struct problem problem;
    *minidump = (struct minidump){.pid_count = 0};
    if (!open_file(file, path))
        return false;
    switch (jd_minidump_read(minidump, (struct span){file->data, file->size}, &problem)) {
    case MINIDUMP_OK:
        return true;
    case MINIDUMP_NO_MEMORY:
        complain("%s: out of memory", path);
        return false;
    default:
        complain("%s: at offset 0x%" PRIx64 ": %s", path, problem.offset, problem.reason);
        return false;
    }
}
