#include "../platform/c_library.h"

#include "source_records.h"

bool jd_has_source_records(const struct jitdump *dump)
{
    return dump->debug_info.dialect != JITDUMP_DIALECT_PERF;
}

struct group jd_source_group(const struct source *source)
{
    struct group group = {.encode = jd_samply_source_write,
                          .input = source,
                          .tail = source->text,
                          .tail_size = source->padded_size,
                          .head = source->head};
    jd_samply_source_check(source, &group.head_size);
    return group;
}

int jd_append_sources(struct jitdump *dump)
{
    int error = 0;
    const struct source *source = jd_has_source_records(dump) ? sources_oldest(&dump->sources) : NULL;
    for (; error == 0 && source != NULL; source = sources_next(source)) {
        const struct group group = jd_source_group(source);
        error = jd_append_group(dump, &group, &(uint64_t){0});
    }
    return error;
}
