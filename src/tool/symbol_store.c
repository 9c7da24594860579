#define _GNU_SOURCE /* asprintf */
#include "tool/symbol_store.h"

#include "tool/messages.h"
#include "tool/progress.h"
#include "tool/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct output {
    struct whole_file file;
    char *path; /* its folder is known only when it is written */
    struct output *next;
};

/* Folders that were not there before: the latest first. */
struct made {
    char *path;
    struct made *next;
};

struct store {
    const char *directory;
    struct whole_file scratch[BREAKPAD_SCRATCH_FILES];
    int scratch_count;
    struct output *outputs;
    struct made *made;
};

static bool make_folder(struct store *store, const char *path, size_t length)
{
    struct made *const made = calloc(1, sizeof(*made));
    char *const copy = strndup(path, length);
    const bool is_new = made != NULL && copy != NULL && mkdir(copy, 0777) == 0;
    const int error = made == NULL || copy == NULL ? ENOMEM : is_new ? 0 : errno;
    if (is_new) {
        *made = (struct made){copy, store->made};
        store->made = made;
        return true;
    }
    if (error != EEXIST)
        complain("%.*s: %s", (int)length, path, strerror(error));
    free(copy);
    free(made);
    return error == EEXIST;
}

/* The store itself, and the folders in it that the path names. */
static bool make_folders(struct store *store, const char *path)
{
    size_t length = strlen(store->directory);
    if (!make_folder(store, path, length))
        return false;
    for (const char *slash = path + length + 1; (slash = strchr(slash, '/')) != NULL; slash++)
        if (!make_folder(store, path, (size_t)(slash - path)))
            return false;
    return true;
}

/* In the store. NULL, with a complaint: out of memory. */
static char *path_in(const struct store *store, const char *name, const char *suffix)
{
    char *path;
    if (asprintf(&path, "%s/%s%s", store->directory, name, suffix) >= 0)
        return path;
    complain("out of memory");
    return NULL;
}

static bool open_output(struct store *store, const struct breakpad_module *module)
{
    struct output *const output = calloc(1, sizeof(*output));
    if (output == NULL) {
        complain("out of memory");
        return false;
    }
    output->path = path_in(store, module->name, ".sym");
    if (output->path == NULL || !make_folder(store, store->directory, strlen(store->directory)) ||
        !whole_file_open(&output->file, output->path)) {
        free(output->path);
        free(output);
        return false;
    }
    output->next = store->outputs;
    store->outputs = output;
    return true;
}

/* Where readers look for the module's file. */
static bool choose_place(struct store *store, struct output *output,
                         const struct breakpad_module *module)
{
    char *const inner = code_module_path(module);
    char *const path = inner != NULL ? path_in(store, inner, "") : NULL;
    free(inner);
    if (path == NULL)
        return false;
    free(output->path);
    output->path = path;
    output->file.path = path;
    return make_folders(store, path);
}

static bool empty_scratch(struct store *store, int fds[BREAKPAD_SCRATCH_FILES])
{
    for (int i = 0; i < BREAKPAD_SCRATCH_FILES; i++) {
        struct whole_file *const scratch = &store->scratch[i];
        if (i == store->scratch_count) {
            if (!whole_file_open(scratch, store->outputs->path))
                return false;
            store->scratch_count++;
        }
        if (ftruncate(scratch->fd, 0) != 0) {
            complain("%s: %s", store->outputs->path, strerror(errno));
            return false;
        }
        fds[i] = scratch->fd;
    }
    return true;
}

static bool write_module(struct store *store, struct breakpad_module *module,
                         const struct problems *problems)
{
    int scratch[BREAKPAD_SCRATCH_FILES];
    if (!open_output(store, module) || !empty_scratch(store, scratch))
        return false;
    struct output *const output = store->outputs;
    const enum breakpad_error error =
        breakpad_write(output->file.fd, scratch, module, problems);
    const int system_error = errno;
    progress_end();
    if (error == BREAKPAD_OK)
        return choose_place(store, output, module);
    complain("%s: %s", output->path,
             error == BREAKPAD_NO_MEMORY ? "out of memory" : strerror(system_error));
    return false;
}

/* Gives the files their names, or leaves nothing of them. */
static bool finish(struct store *store, bool written)
{
    while (store->scratch_count > 0)
        whole_file_drop(&store->scratch[--store->scratch_count]);
    while (store->outputs != NULL) {
        struct output *const output = store->outputs;
        store->outputs = output->next;
        if (written)
            written = whole_file_finish(&output->file);
        else
            whole_file_drop(&output->file);
        free(output->path);
        free(output);
    }
    while (store->made != NULL) {
        struct made *const made = store->made;
        store->made = made->next;
        if (!written)
            rmdir(made->path); /* which fails where something is in it */
        free(made->path);
        free(made);
    }
    return written;
}

bool symbol_store_write(const char *directory, struct code_modules *modules,
                        const struct problems *problems)
{
    struct store store = {.directory = directory};
    bool written = true;
    for (size_t i = 0; i < modules->regions.count && written; i++)
        written = write_module(&store, &modules->modules[i], problems);
    return finish(&store, written);
}
