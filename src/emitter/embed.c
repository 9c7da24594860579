/*
 * What a dump knows beside its functions: tiers, and sources that are in no file.
 */
#include "../platform/c_library.h"

#include "report.h"
#include "source_records.h"
#include "start.h"
#include "../system/new_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int add_tier(struct jitdump *dump, const char *name, uint32_t color_index,
                    const char *name_prefix, uint32_t *tier)
{
    const int error = sticky_error(dump);
    if (error != 0)
        return error;
    if (tier == NULL)
        return JITDUMP_ERROR_ARGUMENT;
    if (name_prefix == NULL)
        name_prefix = "";
    if (name == NULL || name[0] == '\0')
        return JITDUMP_ERROR_TIER_NAME;
    if (color_index > JITDUMP_COLOR_DARK_GRAY)
        return JITDUMP_ERROR_TIER_COLOR;
    if (!dump->debug_info.tier_records && name_prefix[0] == '\0')
        return JITDUMP_ERROR_TIER_DIALECT;

    int result = JITDUMP_ERROR_TIER_LIMIT;
    const struct process_shield shield = jd_process_shield();
    jd_process_lock();
    if (dump->tiers.count < JITDUMP_TIERS_MAX) {
        const struct tier *added = jd_tiers_add(&dump->tiers, name, color_index, name_prefix);
        result = added != NULL ? 0 : JITDUMP_ERROR_NO_MEMORY;
        *tier = added != NULL ? added->number : 0;
    }
    jd_process_unlock();
    jd_process_unshield(shield);
    return result;
}

int jitdump_add_tier(struct jitdump *dump, const char *name, uint32_t color_index,
                     const char *name_prefix, uint32_t *tier)
{
    if (tier != NULL)
        *tier = 0;
    if (dump == NULL)
        return 0;
    const int error = add_tier(dump, name, color_index, name_prefix, tier);
    return reported(dump, error, "jitdump_add_tier", name);
}

/* Sources */

/* The last part of a file's name, from the last part of the path: whatever is not surely
 * harmless in a name becomes '_'. Long ones are cut at the front, to keep the extension. */
static void make_safe(char name[64], const char *path)
{
    const char *from = strrchr(path, '/');
    from = from != NULL ? from + 1 : path;
    const size_t length = strlen(from);
    if (length > 63)
        from += length - 63;
    strcpy(name, from);
    for (char *c = name; *c != '\0'; c++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *c) ==
            NULL)
            *c = '_';
}

/* The number in the name keeps two sources apart whose paths end alike. */
static int write_file(struct jitdump *dump, struct source *source, const void *text)
{
    char name[64], path[PATH_MAX + 128];
    make_safe(name, source->path);
    snprintf(path, sizeof(path), "%s/jit-%u-%u-%s", dump->directory, dump->pid,
             sources_count(&dump->sources), name);
    struct new_file file;
    if (jd_new_file_open(path, NEW_FILE_NO_RIVAL, dump->signal, &file) != 0)
        return JITDUMP_ERROR_SOURCE_FILE;
    const struct iovec bytes = {(void *)(uintptr_t)text, (size_t)source->size};
    const bool written = jd_new_file_append(&file, &bytes, 1) == bytes.iov_len;
    source->file = written ? strdup(path) : NULL;
    int error = !written ? JITDUMP_ERROR_SOURCE_FILE
                : source->file == NULL ? JITDUMP_ERROR_NO_MEMORY
                                       : 0;
    if (error != 0)
        jd_new_file_unlink(path, &file);
    if (!jd_new_file_close(&file) && error == 0) {
        unlink(path);
        error = JITDUMP_ERROR_SOURCE_FILE;
    }
    source->pid = dump->pid;
    return error;
}

/* With the text, padded, if the dialect has a record for it. */
static int new_source(const struct jitdump *dump, const char *path, const void *text,
                      uint64_t size, struct source **result)
{
    struct source *source = calloc(1, sizeof(*source) + strlen(path) + 1);
    *result = source;
    if (source == NULL)
        return JITDUMP_ERROR_NO_MEMORY;
    strcpy(source->path, path);
    source->size = size;
    if (jd_has_source_records(dump)) {
        source->padded_size = size + samply_padding(strlen(path) + 1 + size);
        uint64_t head_size;
        const int error = jd_samply_source_check(source, &head_size);
        if (error != 0)
            return error;
        /* So that appending it does not fail for want of memory when its path is known already. */
        source->head = calloc(1, (size_t)(head_size + source->padded_size));
        if (source->head == NULL)
            return JITDUMP_ERROR_NO_MEMORY;
        source->text = source->head + head_size;
        put(source->text, text, (size_t)size);
    }
    return 0;
}

static int add_source(struct jitdump *dump, struct source *source, const void *text)
{
    if (jd_sources_find(&dump->sources, UINT32_MAX, text_of(source->path, 0)) != NULL)
        return JITDUMP_ERROR_SOURCE_TWICE;
    const int error =
        (dump->flags & JITDUMP_SOURCE_FILES) != 0 ? write_file(dump, source, text) : 0;
    if (error != 0)
        return error;
    if (jd_sources_add(&dump->sources, source))
        return 0;
    if (source->file != NULL)
        unlink(source->file);
    return JITDUMP_ERROR_NO_MEMORY;
}

static int embed_source(struct jitdump *dump, const char *path, const void *source,
                        uint64_t source_size)
{
    int error = get_ready(dump);
    if (error != 0)
        return error;
    if (path == NULL || path[0] == '\0')
        return JITDUMP_ERROR_SOURCE_PATH;
    if (source == NULL && source_size != 0)
        return JITDUMP_ERROR_SOURCE_MISSING;
    if (source_size > UINT32_MAX)
        return JITDUMP_ERROR_RECORD_SIZE;

    const struct process_shield shield = jd_process_shield();
    struct source *added;
    error = new_source(dump, path, source_size != 0 ? source : "", source_size, &added);
    if (error == 0) {
        jd_process_lock();
        error = add_source(dump, added, source);
        jd_process_unlock();
    }
    if (error != 0 && added != NULL)
        jd_source_free(added);
    jd_process_unshield(shield);
    if (error != 0 || !jd_has_source_records(dump))
        return error;
    const struct group group = jd_source_group(added);
    return start_and_append(dump, &group, &(uint64_t){0});
}

int jitdump_embed_source(struct jitdump *dump, const char *path, const void *source,
                         uint64_t source_size)
{
    if (dump == NULL)
        return 0;
    const int error = embed_source(dump, path, source, source_size);
    return reported(dump, error, "jitdump_embed_source", path);
}
