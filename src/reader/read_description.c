#include "reader/read_description.h"

#include "reader/describe.h"

#include <stdlib.h>

static void empty(struct description *description)
{
    description->source = DESCRIPTION_EMPTY;
    description->row_count = 0;
    description->function_count = 0;
    description->call_count = 0;
    description->range_count = 0;
    description->string_count = 0;
}

void jd_description_free(struct description *description)
{
    free(description->rows);
    free(description->functions);
    free(description->calls);
    free(description->ranges);
    free(description->strings);
    if (description->memory != NULL) {
        free(description->memory->words);
        free(description->memory->keys);
        free(description->memory->opened);
        free(description->memory);
    }
    *description = (struct description){0};
}

/* The record at `offset`, 0: none, by the reader for its kind. */
static enum described describe(struct description *description, const struct history *history,
                               const struct piece *piece, uint64_t offset,
                               enum described (*reader)(struct describing *),
                               const struct problems *problems)
{
    struct dump_record record;
    if (offset == 0 || !jd_dump_reader_at(&history->reader, offset, &record))
        return DESCRIBED_WRONGLY;
    struct describing describing = {
        .description = description,
        .history = history,
        .piece = piece,
        .cursor = jd_dump_record_cursor(&history->reader, &record),
        .record = offset,
    };
    empty(description);
    const enum described described = reader(&describing);
    if (described == DESCRIBED_WRONGLY)
        tell_problem(problems, describing.problem.offset, describing.problem.reason);
    return described;
}

bool jd_description_read(struct description *description, const struct history *history,
                         const struct piece *piece, const struct problems *problems)
{
    const struct {
        enum description_source source;
        uint64_t offset;
        enum described (*reader)(struct describing *);
    } kinds[] = {
        {DESCRIPTION_INLINE_2026, piece->inline_2026, jd_describe_2026},
        {DESCRIPTION_INLINE_2023, piece->inline_2023, jd_describe_2023},
        {DESCRIPTION_DEBUG_INFO, piece->debug_info, jd_describe_debug_info},
    };
    if (description->memory == NULL) {
        description->memory = calloc(1, sizeof(*description->memory));
        if (description->memory == NULL)
            return false;
    }
    enum described described = DESCRIBED_WRONGLY;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && described == DESCRIBED_WRONGLY; i++) {
        described = describe(description, history, piece, kinds[i].offset, kinds[i].reader, problems);
        if (described == DESCRIBED)
            description->source = kinds[i].source;
    }
    if (described != DESCRIBED)
        empty(description);
    return described != DESCRIBED_NO_MEMORY;
}
