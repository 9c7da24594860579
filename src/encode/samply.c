#include "../platform/c_library.h"

#include "samply.h"

uint64_t jd_samply_tier_size(const struct tier *tier)
{
    const uint64_t name_size = strlen(tier->name) + 1;
    return sizeof(struct samply_jit_tier) + name_size + samply_padding(name_size);
}

unsigned char *jd_samply_tier_write(unsigned char *to, const struct record_stamp *stamp,
                                    const struct tier *tier)
{
    const uint64_t name_size = strlen(tier->name) + 1;
    const struct samply_jit_tier record = {
        .header = record_header(SAMPLY_JIT_TIER, jd_samply_tier_size(tier), stamp),
        .tier_index = tier->number,
        .color_index = tier->color_index,
    };
    to = put(to, &record, sizeof(record));
    to = put(to, tier->name, (size_t)name_size);
    return put(to, "\0\0\0", (size_t)samply_padding(name_size));
}

int jd_samply_source_check(const struct source *source, uint64_t *head_size)
{
    *head_size = sizeof(struct samply_embedded_source_file) + strlen(source->path) + 1;
    return *head_size + source->padded_size > UINT32_MAX ? JITDUMP_ERROR_RECORD_SIZE : 0;
}

unsigned char *jd_samply_source_write(unsigned char *to, const struct record_stamp *stamp,
                                      const void *input)
{
    const struct source *source = input;
    const uint64_t path_size = strlen(source->path) + 1;
    const struct samply_embedded_source_file record = {
        .header = record_header(SAMPLY_EMBEDDED_SOURCE_FILE,
                                sizeof(record) + path_size + source->padded_size, stamp),
        .path_size = (uint32_t)path_size,
        .source_size = (uint32_t)source->size,
    };
    to = put(to, &record, sizeof(record));
    return put(to, source->path, (size_t)path_size);
}
