#include "../platform/c_library.h"

#include "sources.h"

#include "index_table.h"

#include <unistd.h>

static _Atomic(struct source *) *find_slot(struct source_table *table, struct text path)
{
    for (uint32_t i = hash_text(path);; i++) {
        _Atomic(struct source *) *const slot = &table->slots[i & table->mask];
        /* Acquire pairs with the release in jd_sources_add(). */
        const struct source *source = atomic_load_explicit(slot, memory_order_acquire);
        if (source == NULL || text_is_equal(text_of(source->path, 0), path))
            return slot;
    }
}

const struct source *jd_sources_find(const struct sources *sources, uint32_t count,
                                     struct text path)
{
    /* Acquire pairs with the release in grow(). */
    struct source_table *table = atomic_load_explicit(&sources->table, memory_order_acquire);
    if (table == NULL || count == 0)
        return NULL;
    const struct source *source = atomic_load_explicit(find_slot(table, path),
                                                       memory_order_acquire);
    return source != NULL && source->number < count ? source : NULL;
}

struct text jd_file_name(const struct file_names *names, struct text file)
{
    const struct source *source =
        names->sources != NULL ? jd_sources_find(names->sources, names->count, file) : NULL;
    return source != NULL && source->file != NULL ? text_of(source->file, 0) : file;
}

/* A table for twice as many. */
static bool grow(struct sources *sources)
{
    struct source_table *old = atomic_load_explicit(&sources->table, memory_order_relaxed);
    const uint64_t slots = old == NULL ? 16 : 2 * ((uint64_t)old->mask + 1);
    struct source_table *table =
        calloc(1, sizeof(*table) + (size_t)slots * sizeof(table->slots[0]));
    if (table == NULL)
        return false;
    table->smaller = old;
    table->mask = (uint32_t)(slots - 1);
    for (struct source *source = sources_oldest(sources); source != NULL;
         source = sources_next(source))
        atomic_store_explicit(find_slot(table, text_of(source->path, 0)), source, memory_order_relaxed);
    /* Releases the slots to jd_sources_find(). */
    atomic_store_explicit(&sources->table, table, memory_order_release);
    return true;
}

/* Doing it twice does no harm. */
static void publish(struct sources *sources, struct source *source)
{
    struct source_table *table = atomic_load_explicit(&sources->table, memory_order_relaxed);
    struct source *newest = atomic_load_explicit(&sources->newest, memory_order_relaxed);
    /* Release the source to find_slot(), and its slot and the table to sources_count(). */
    atomic_store_explicit(find_slot(table, text_of(source->path, 0)), source, memory_order_release);
    if (newest != source)
        atomic_store_explicit(newest != NULL ? &newest->newer : &sources->oldest, source,
                              memory_order_release);
    atomic_store_explicit(&sources->newest, source, memory_order_release);
    atomic_store_explicit(&sources->adding, NULL, memory_order_release);
}

bool jd_sources_add(struct sources *sources, struct source *source)
{
    const struct source_table *table =
        atomic_load_explicit(&sources->table, memory_order_relaxed);
    const uint32_t count = sources_count(sources);
    if ((table == NULL || count > table->mask / 2) && !grow(sources))
        return false;
    source->number = count;
    atomic_init(&source->newer, NULL);
    /* Releases the source to jd_sources_after_fork(). */
    atomic_store_explicit(&sources->adding, source, memory_order_release);
    publish(sources, source);
    return true;
}

void jd_sources_after_fork(struct sources *sources)
{
    struct source *source = atomic_load_explicit(&sources->adding, memory_order_relaxed);
    if (source != NULL)
        publish(sources, source);
}

void jd_source_free(struct source *source)
{
    free(source->file);
    free(source->head);
    free(source);
}

void jd_sources_free(struct sources *sources, uint32_t unlink_pid)
{
    struct source *source = sources_oldest(sources);
    while (source != NULL) {
        struct source *const next = sources_next(source);
        if (source->file != NULL && source->pid == unlink_pid)
            unlink(source->file);
        jd_source_free(source);
        source = next;
    }
    struct source_table *table = atomic_load_explicit(&sources->table, memory_order_relaxed);
    while (table != NULL) {
        struct source_table *const smaller = table->smaller;
        free(table);
        table = smaller;
    }
}
