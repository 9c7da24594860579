#include "../platform/c_library.h"

#include "sources.h"

#include "index_table.h"

#include <unistd.h>

static _Atomic(struct source *) *find_slot(struct source_table *table, const char *path)
{
    for (uint32_t i = hash_string(path);; i++) {
        _Atomic(struct source *) *const slot = &table->slots[i & table->mask];
        /* Acquire pairs with the release in jd_sources_add(). */
        const struct source *source = atomic_load_explicit(slot, memory_order_acquire);
        if (source == NULL || strcmp(source->path, path) == 0)
            return slot;
    }
}

const struct source *jd_sources_find(const struct sources *sources, uint32_t count,
                                     const char *path)
{
    /* Acquire pairs with the release in grow(). */
    struct source_table *table = atomic_load_explicit(&sources->table, memory_order_acquire);
    if (table == NULL || count == 0)
        return NULL;
    const struct source *source = atomic_load_explicit(find_slot(table, path),
                                                       memory_order_acquire);
    return source != NULL && source->number < count ? source : NULL;
}

const char *jd_sources_file(const struct sources *sources, uint32_t count, const char *path)
{
    const struct source *source = jd_sources_find(sources, count, path);
    return source != NULL ? source->file : NULL;
}

const char *jd_file_name(const struct file_names *names, const char *file)
{
    const char *found =
        names->sources != NULL ? jd_sources_file(names->sources, names->count, file) : NULL;
    return found != NULL ? found : file;
}

/* A table for twice as many. */
static bool grow(struct sources *sources)
{
    struct source_table *old = atomic_load_explicit(&sources->table, memory_order_relaxed);
    const uint64_t slots = old == NULL ? 16 : 2 * ((uint64_t)old->mask + 1);
    struct source **list = realloc(sources->list, (size_t)(slots / 2) * sizeof(struct source *));
    if (list == NULL)
        return false;
    sources->list = list;
    struct source_table *table =
        calloc(1, sizeof(*table) + (size_t)slots * sizeof(table->slots[0]));
    if (table == NULL)
        return false;
    sources->list_size = (uint32_t)(slots / 2);
    table->smaller = old;
    table->mask = (uint32_t)(slots - 1);
    const uint32_t count = sources_count(sources);
    for (uint32_t i = 0; i < count; i++)
        atomic_store_explicit(find_slot(table, list[i]->path), list[i], memory_order_relaxed);
    /* Releases the slots to jd_sources_find(). */
    atomic_store_explicit(&sources->table, table, memory_order_release);
    return true;
}

bool jd_sources_add(struct sources *sources, struct source *source)
{
    const uint32_t count = sources_count(sources);
    if (count == sources->list_size && !grow(sources))
        return false;
    source->number = count;
    sources->list[count] = source;
    struct source_table *table = atomic_load_explicit(&sources->table, memory_order_relaxed);
    /* Release the source to find_slot(), and its slot and the table to sources_count(). */
    atomic_store_explicit(find_slot(table, source->path), source, memory_order_release);
    atomic_store_explicit(&sources->count, count + 1, memory_order_release);
    return true;
}

void jd_source_free(struct source *source)
{
    free(source->file);
    free(source->head);
    free(source);
}

void jd_sources_free(struct sources *sources, uint32_t unlink_pid)
{
    const uint32_t count = sources_count(sources);
    for (uint32_t i = 0; i < count; i++) {
        struct source *source = sources->list[i];
        if (source->file != NULL && source->pid == unlink_pid)
            unlink(source->file);
        jd_source_free(source);
    }
    free(sources->list);
    struct source_table *table = atomic_load_explicit(&sources->table, memory_order_relaxed);
    while (table != NULL) {
        struct source_table *const smaller = table->smaller;
        free(table);
        table = smaller;
    }
}
