/*
 * All public functions for systems on which there is no dump, so that a portable runtime needs no
 * #ifdef. Standard C alone.
 */
#include "../platform/c_library.h"

#include "../encode/struct_size.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The caller's buffer for a line, if there is one. */
static const struct jitdump_options *with_message(const struct jitdump_options *options,
                                                  struct jitdump_options *copy)
{
    if (options == NULL || !jd_struct_size_is_sound(options->struct_size, OPTIONS_SIZE_MIN))
        return NULL;
    options = struct_known(options, copy, sizeof(*copy), OPTIONS_SIZE_MIN);
    return options != NULL && options->error_message != NULL && options->error_message_size != 0
               ? options
               : NULL;
}

int jitdump_open(struct jitdump **dump, const struct jitdump_options *options)
{
    if (dump == NULL)
        return JITDUMP_ERROR_ARGUMENT;
    *dump = NULL;
    struct jitdump_options copy;
    options = with_message(options, &copy);
    if (options != NULL)
        snprintf(options->error_message, (size_t)options->error_message_size, "%s",
                 jitdump_strerror(JITDUMP_ERROR_UNSUPPORTED));
    return JITDUMP_ERROR_UNSUPPORTED;
}

int jitdump_open_from_environment(struct jitdump **dump, const struct jitdump_options *defaults)
{
    if (dump == NULL)
        return JITDUMP_ERROR_ARGUMENT;
    *dump = NULL;
    const char *const asked = getenv("JITDUMP");
    if (asked == NULL || asked[0] == '\0' || strcmp(asked, "0") == 0)
        return 0;
    struct jitdump_options copy;
    if (with_message(defaults, &copy) == NULL)
        fprintf(stderr, "jitdump: %s\n", jitdump_strerror(JITDUMP_ERROR_UNSUPPORTED));
    return jitdump_open(dump, defaults);
}

/* Nobody has a handle. */

int jitdump_load(struct jitdump *dump, const struct jitdump_code *code, uint64_t *code_index)
{
    (void)dump;
    (void)code;
    if (code_index != NULL)
        *code_index = 0;
    return 0;
}

int jitdump_load_many(struct jitdump *dump, const struct jitdump_code *codes, uint64_t count,
                      uint64_t *code_indices)
{
    (void)dump;
    (void)codes;
    for (uint64_t i = 0; code_indices != NULL && i < count; i++)
        code_indices[i] = 0;
    return 0;
}

int jitdump_move(struct jitdump *dump, uint64_t code_index, uint64_t old_code_addr,
                 uint64_t new_code_addr, uint64_t code_size)
{
    (void)dump;
    (void)code_index;
    (void)old_code_addr;
    (void)new_code_addr;
    (void)code_size;
    return 0;
}

int jitdump_append_raw(struct jitdump *dump, uint32_t id, const void *payload,
                       uint64_t payload_size)
{
    (void)dump;
    (void)id;
    (void)payload;
    (void)payload_size;
    return 0;
}

int jitdump_add_tier(struct jitdump *dump, const char *name, uint32_t color_index,
                     const char *name_prefix, uint32_t *tier)
{
    (void)dump;
    (void)name;
    (void)color_index;
    (void)name_prefix;
    if (tier != NULL)
        *tier = 0;
    return 0;
}

int jitdump_embed_source(struct jitdump *dump, const char *path, const void *source,
                         uint64_t source_size)
{
    (void)dump;
    (void)path;
    (void)source;
    (void)source_size;
    return 0;
}

int jitdump_unwind_size(const struct jitdump *dump, const struct jitdump_code *code,
                        uint64_t *size)
{
    (void)dump;
    (void)code;
    if (size != NULL)
        *size = 0;
    return 0;
}

int jitdump_unwind_eh_frame(uint32_t elf_mach, const struct jitdump_code *code, void *eh_frame,
                            uint64_t capacity, uint64_t *eh_frame_size)
{
    (void)elf_mach;
    (void)code;
    (void)eh_frame;
    (void)capacity;
    if (eh_frame_size != NULL)
        *eh_frame_size = 0;
    return JITDUMP_ERROR_UNSUPPORTED;
}

int jitdump_flush(struct jitdump *dump)
{
    (void)dump;
    return 0;
}

int jitdump_flush_from_signal(struct jitdump *dump)
{
    (void)dump;
    return 0;
}

int jitdump_close(struct jitdump *dump)
{
    (void)dump;
    return 0;
}

const char *jitdump_path(const struct jitdump *dump)
{
    (void)dump;
    return NULL;
}

void jitdump_after_fork(void)
{
}
