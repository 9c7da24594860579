/*
 * One function, in all detail: as text or as JSON.
 */
#ifndef JITDUMP_TOOL_DUMP_FUNCTION_H
#define JITDUMP_TOOL_DUMP_FUNCTION_H

#include "reader/decode.h"
#include "reader/description.h"
#include "reader/frame_rows.h"

struct function_view {
    const struct history *history;
    const struct piece *piece;
    const struct description *description;
    uint64_t address; /* at which the code is shown */
};

void show_function_text(const struct function_view *view);
void show_function_json(const struct function_view *view);

/* What description->source is called: "2026", "2023", "DEBUG_INFO" or "none". */
const char *description_source_name(const struct description *description);

/* "to the end", "moved" or "covered". */
const char *life_end_name(const struct life *life);

/* False: the piece has no tier. */
bool piece_tier(const struct history *history, const struct piece *piece, struct tier_record *tier);

/* Calls `row` for each row of the piece's call frame information, with the code's offsets in place of
 * addresses. NULL, or why not all of it could be read. */
const char *for_each_frame_row(const struct history *history, const struct piece *piece,
                               void (*row)(void *context, const struct frame_row *row),
                               void *context);

#endif
