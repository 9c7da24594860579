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
    char *path;
    struct output *next;
};

/* Folders that were not there before: the latest first. */
struct made {
    char *path;
    struct made *next;
};

struct store {
    const char *directory;
    struct whole_file scratch;
    bool has_scratch;
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

/* Where the module's file goes, in a folder that is there. NULL, with a complaint: nowhere. */
static char *make_place(struct store *store, const struct breakpad_module *module)
{
    char *path = NULL;
    char *const inner = code_module_path(module);
    if (inner != NULL && asprintf(&path, "%s/%s", store->directory, inner) < 0) {
        complain("out of memory");
        path = NULL;
    }
    free(inner);
    if (path != NULL && !make_folders(store, path)) {
        free(path);
        path = NULL;
    }
    return path;
}

static bool open_output(struct store *store, const struct breakpad_module *module)
{
    struct output *const output = calloc(1, sizeof(*output));
    if (output == NULL) {
        complain("out of memory");
        return false;
    }
    output->path = make_place(store, module);
    if (output->path == NULL || !whole_file_open(&output->file, output->path)) {
        free(output->path);
        free(output);
        return false;
    }
    output->next = store->outputs;
    store->outputs = output;
    if (!store->has_scratch)
        store->has_scratch = whole_file_open(&store->scratch, output->path);
    return store->has_scratch;
}

static bool write_module(struct store *store, const struct breakpad_module *module,
                         const struct problems *problems)
{
    if (!open_output(store, module))
        return false;
    const struct output *const output = store->outputs;
    enum breakpad_error error = BREAKPAD_NOT_WRITTEN;
    if (ftruncate(store->scratch.fd, 0) == 0)
        error = breakpad_write(output->file.fd, store->scratch.fd, module, problems);
    const int system_error = errno;
    progress_end();
    if (error != BREAKPAD_OK)
        complain("%s: %s", output->path,
                 error == BREAKPAD_NO_MEMORY ? "out of memory" : strerror(system_error));
    return error == BREAKPAD_OK;
}

/* Gives the files their names, or leaves nothing of them. */
static bool finish(struct store *store, bool written)
{
    if (store->has_scratch)
        whole_file_drop(&store->scratch);
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

bool symbol_store_write(const char *directory, const struct code_modules *modules,
                        const struct problems *problems)
{
    struct store store = {.directory = directory};
    bool written = true;
    for (size_t i = 0; i < modules->regions.count && written; i++)
        written = write_module(&store, &modules->modules[i], problems);
    return finish(&store, written);
}
