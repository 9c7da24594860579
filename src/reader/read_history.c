#include "reader/read_history.h"

#include "reader/decode.h"
#include "reader/grow.h"
#include "reader/lives.h"

#include <stdlib.h>

/* V8 (Node, Chromium) and LLVM add the size of an ELF header, which perf once put before the code. */
#define ELF_HEADER_BIAS 64

/* What is kept while the records go by. */
struct reading {
    struct history *history;
    const struct problems *problems;
    /* What belongs to the next load. */
    struct piece described;
    /* Where tables of lines begin in their code: the lowest offset, how many begin behind the
     * code, and how many exactly at the bias. */
    uint64_t lowest_line;
    uint64_t table_count;
    uint64_t behind_code;
    uint64_t at_bias;
    bool any_v8;
    struct history_event *events;
    struct history_move *moves;
    uint64_t event_count;
    uint64_t event_capacity;
    uint64_t move_capacity;
    uint64_t piece_capacity;
    uint64_t source_capacity;
};

static enum history_error add_event(struct reading *reading, const struct dump_record *record,
                                    uint32_t piece, uint32_t move)
{
    struct history_event *const events = grow(reading->events, &reading->event_capacity,
                                              reading->event_count + 1, sizeof(*events));
    if (events == NULL)
        return HISTORY_NO_MEMORY;
    reading->events = events;
    events[reading->event_count++] =
        (struct history_event){record->timestamp, record->offset, piece, move};
    return HISTORY_OK;
}

/* The first address in the record of a piece's lines, as an offset in its code. */
static uint64_t first_line(const struct reading *reading, const struct piece *piece)
{
    struct dump_record record;
    if (piece->debug_info == 0 ||
        !jd_dump_reader_at(&reading->history->reader, piece->debug_info, &record))
        return UINT64_MAX;
    struct cursor cursor = jd_dump_record_cursor(&reading->history->reader, &record);
    cursor_take(&cursor, sizeof(struct jit_code_debug_info) - sizeof(struct jit_record_header), NULL);
    const uint64_t address = cursor_u64(&cursor, NULL);
    return cursor_left(&cursor) > 0 ? address - piece->code_addr : UINT64_MAX;
}

static void note_lines(struct reading *reading, const struct piece *piece)
{
    const uint64_t line = first_line(reading, piece);
    reading->any_v8 |= piece->name.size > 3 && memcmp(piece->name.data, "JS:", 3) == 0;
    if (line == UINT64_MAX)
        return;
    if (line < reading->lowest_line)
        reading->lowest_line = line;
    reading->table_count++;
    reading->behind_code += line > piece->code_size;
    reading->at_bias += line == ELF_HEADER_BIAS;
}

/* The addresses are taken to be too high if no table begins below the bias, and one thing more
 * is so: the names are V8's, a table would lie behind its code, or there are several and all
 * begin at the bias. */
static uint64_t line_bias(const struct reading *reading)
{
    const bool all = reading->table_count > 1 && reading->at_bias == reading->table_count;
    const bool sign = reading->any_v8 || reading->behind_code > 0 || all;
    return reading->lowest_line == ELF_HEADER_BIAS && sign ? ELF_HEADER_BIAS : 0;
}

static enum history_error read_load(struct reading *reading, const struct dump_record *record)
{
    struct history *const history = reading->history;
    struct piece *const piece = &reading->described;
    struct load_record load;
    struct problem problem;
    if (!jd_decode_load(&history->reader, record, &load, &problem)) {
        tell_problem(reading->problems, problem.offset, problem.reason);
        *piece = (struct piece){0};
        return HISTORY_OK;
    }
    struct piece *const pieces = grow(history->pieces, &reading->piece_capacity,
                                      (uint64_t)history->piece_count + 1, sizeof(*pieces));
    if (pieces == NULL)
        return HISTORY_NO_MEMORY;
    history->pieces = pieces;
    if (history->piece_count == HISTORY_NONE - 1)
        return HISTORY_TOO_LARGE;

    piece->timestamp = record->timestamp;
    piece->code_addr = load.code_addr;
    piece->code_size = load.code_size;
    piece->code_index = load.code_index;
    piece->name = load.name;
    piece->code = load.code;
    piece->pid = load.pid;
    piece->tid = load.tid;
    piece->load = record->offset;
    piece->first_life = HISTORY_NONE;
    note_lines(reading, piece);
    pieces[history->piece_count] = *piece;
    *piece = (struct piece){0};
    return add_event(reading, record, history->piece_count++, HISTORY_NONE);
}

static enum history_error read_move(struct reading *reading, const struct dump_record *record)
{
    struct history *const history = reading->history;
    struct move_record move;
    struct problem problem;
    if (!jd_decode_move(&history->reader, record, &move, &problem)) {
        tell_problem(reading->problems, problem.offset, problem.reason);
        return HISTORY_OK;
    }
    struct history_move *const moves = grow(reading->moves, &reading->move_capacity,
                                            (uint64_t)history->move_count + 1, sizeof(*moves));
    if (moves == NULL)
        return HISTORY_NO_MEMORY;
    reading->moves = moves;
    if (history->move_count == HISTORY_NONE - 1)
        return HISTORY_TOO_LARGE;
    moves[history->move_count] =
        (struct history_move){move.code_index, move.old_code_addr, move.new_code_addr};
    return add_event(reading, record, HISTORY_NONE, history->move_count++);
}

static enum history_error read_source(struct reading *reading, const struct dump_record *record)
{
    struct history *const history = reading->history;
    struct source_record source;
    struct problem problem;
    if (!jd_decode_source(&history->reader, record, &source, &problem)) {
        tell_problem(reading->problems, problem.offset, problem.reason);
        return HISTORY_OK;
    }
    uint64_t *const sources = grow(history->sources, &reading->source_capacity,
                                   (uint64_t)history->source_count + 1, sizeof(*sources));
    if (sources == NULL)
        return HISTORY_NO_MEMORY;
    history->sources = sources;
    if (history->source_count == HISTORY_NONE - 1)
        return HISTORY_TOO_LARGE;
    sources[history->source_count++] = record->offset;
    return HISTORY_OK;
}

static enum history_error read_record(struct reading *reading, const struct dump_record *record)
{
    switch (record->id) {
    case JIT_CODE_LOAD:
        return read_load(reading, record);
    case JIT_CODE_MOVE:
        return read_move(reading, record);
    case JIT_CODE_DEBUG_INFO:
        reading->described.debug_info = record->offset;
        return HISTORY_OK;
    case JIT_CODE_UNWINDING_INFO:
        reading->described.unwinding = record->offset;
        return HISTORY_OK;
    case SAMPLY_JIT_CODE_DEBUG_INFO2:
        reading->described.inline_2023 = record->offset;
        return HISTORY_OK;
    case SAMPLY_JIT_TIER:
        if (jd_is_tier(&reading->history->reader, record))
            reading->described.tier = record->offset;
        else
            reading->described.inline_2026 = record->offset;
        return HISTORY_OK;
    case SAMPLY_EMBEDDED_SOURCE_FILE:
        return read_source(reading, record);
    default:
        return HISTORY_OK;
    }
}

static enum history_error read_records(struct reading *reading, const struct mapped_file *file)
{
    struct history *const history = reading->history;
    struct dump_record record;
    uint64_t passed = 0;
    uint64_t last = 0;
    while (jd_dump_reader_next(&history->reader, &record)) {
        if (record.timestamp < last && history->backwards == 0)
            history->backwards = record.offset;
        last = record.timestamp;
        if (last > history->last_timestamp)
            history->last_timestamp = last;
        if (last < history->first_timestamp || history->record_count == 0)
            history->first_timestamp = last;
        history->record_count++;
        const enum history_error error = read_record(reading, &record);
        if (error != HISTORY_OK)
            return error;
        if (jd_mapped_file_pass(file, &passed, record.offset))
            tell_progress(reading->problems, record.offset, file->size);
    }
    return HISTORY_OK;
}

enum history_error jd_history_read(struct history *history, const struct mapped_file *file,
                                   const struct problems *problems)
{
    *history = (struct history){0};
    if (!jd_dump_reader_init(&history->reader, (struct span){file->data, file->size}))
        return HISTORY_NO_DUMP;
    struct reading reading = {
        .history = history, .problems = problems, .lowest_line = UINT64_MAX};
    enum history_error error = read_records(&reading, file);
    history->line_bias = line_bias(&reading);
    if (error == HISTORY_OK)
        error = jd_lives_read(history, reading.events, reading.event_count, reading.moves, problems);
    free(reading.events);
    free(reading.moves);
    if (error != HISTORY_OK)
        jd_history_free(history);
    return error;
}
