/*
 * Any bytes as a dump: read, described and printed in all ways that `jitdump dump` has, and what the
 * reader promises of histories and descriptions looked at.
 */
#include "require.h"
#include "target.h"

#include "reader/read_description.h"
#include "reader/read_history.h"
#include "reader/frame_rows.h"
#include "tool/command.h"
#include "tool/disassemble.h"
#include "tool/dump.h"
#include "tool/messages.h"

#include <stdio.h>
#include <stdlib.h>

const char *target_output;

/* A million complaints say nothing. */
void complain(const char *format, ...)
{
    (void)format;
}

int point_to_help(const char *command)
{
    (void)command;
    return STATUS_TROUBLE;
}

/* In place of objdump. */
const char *disassemble(const struct disassembly *disassembly,
                        void (*line)(void *context, uint64_t address, const char *text),
                        void *context)
{
    const uint64_t step = disassembly->size / 64 + 1;
    for (uint64_t i = 0; i < disassembly->size; i += step)
        line(context, disassembly->address + i, "instruction");
    return NULL;
}

static void check_instant(const struct history *history, uint64_t time)
{
    uint32_t *lives;
    uint32_t count;
    REQUIRE(jd_history_at(history, time, &lives, &count));
    for (uint32_t i = 1; i < count; i++) {
        const struct life *const life = &history->lives[lives[i - 1]];
        const struct life *const above = &history->lives[lives[i]];
        REQUIRE(above->address - life->address >= life_size(history, life));
        REQUIRE(above->address > life->address);
    }
    free(lives);
}

static void check_lives(const struct history *history)
{
    uint32_t chained = 0;
    for (uint32_t i = 0; i < history->life_count; i++) {
        const struct life *const life = &history->lives[i];
        REQUIRE(i == 0 || history->lives[i - 1].begin <= life->begin);
        REQUIRE(life->end >= life->begin);
        REQUIRE(life->ended != LIFE_TO_THE_END || life->end == UINT64_MAX);
        REQUIRE((life->covered_by != HISTORY_NONE) == (life->ended == LIFE_COVERED));
        REQUIRE(life_size(history, life) > 0);
    }
    for (uint32_t i = 0; i < history->piece_count; i++) {
        uint64_t end = 0;
        for (uint32_t j = history->pieces[i].first_life; j != HISTORY_NONE;
             j = history->lives[j].next) {
            REQUIRE(history->lives[j].piece == i);
            REQUIRE(history->lives[j].begin >= end);
            end = history->lives[j].end;
            chained++;
        }
    }
    REQUIRE(chained == history->life_count);
    check_instant(history, UINT64_MAX);
    for (uint32_t i = 0; i < history->life_count && i < 16; i++)
        check_instant(history, history->lives[i].begin);
}

static void check_string(const struct description *description, uint32_t index)
{
    REQUIRE(index == DESCRIPTION_NONE || index < description->string_count);
}

static void check_call(const struct description *description, uint32_t index, uint32_t *innermost)
{
    const struct inlined_call *const call = &description->calls[index];
    REQUIRE(call->function < description->function_count);
    REQUIRE(call->parent == DESCRIPTION_NONE || call->parent < index);
    REQUIRE(call->depth ==
            (call->parent != DESCRIPTION_NONE ? description->calls[call->parent].depth + 1 : 0));
    REQUIRE(index == 0 || call->depth <= description->calls[index - 1].depth + 1);
    REQUIRE(call->range_count > 0);
    REQUIRE(call->first_range + call->range_count <= description->range_count);
    check_string(description, call->call_file);
    uint32_t end = 0;
    for (uint32_t i = 0; i < call->range_count; i++) {
        const struct code_range *const range = &description->ranges[call->first_range + i];
        REQUIRE(range->begin < range->end && (i == 0 || range->begin > end));
        end = range->end;
        for (uint32_t at = range->begin; at < range->end; at++) {
            REQUIRE(innermost[at] == call->parent);
            innermost[at] = index;
        }
    }
}

static void check_description(const struct description *description, uint64_t code_size)
{
    for (uint32_t i = 0; i < description->row_count; i++) {
        const struct line_row *const row = &description->rows[i];
        REQUIRE(row->code_offset < code_size);
        REQUIRE(i == 0 || description->rows[i - 1].code_offset < row->code_offset);
        check_string(description, row->file);
    }
    for (uint32_t i = 0; i < description->function_count; i++) {
        REQUIRE(description->functions[i].name < description->string_count);
        check_string(description, description->functions[i].file);
    }
    uint32_t *const innermost = malloc((size_t)code_size * sizeof(*innermost) + 1);
    REQUIRE(innermost != NULL);
    memset(innermost, 0xff, (size_t)code_size * sizeof(*innermost));
    for (uint32_t i = 0; i < description->call_count; i++)
        check_call(description, i, innermost);
    for (uint64_t i = 0; i < code_size; i += code_size / 8 + 1)
        REQUIRE(jd_description_call_at(description, (uint32_t)i) == innermost[i]);
    free(innermost);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    if (freopen("/dev/null", "w", stdout) == NULL)
        abort();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct mapped_file file = {.data = bytes, .size = size};
    struct dump_reader reader;
    if (!jd_dump_reader_init(&reader, (struct span){bytes, size}))
        return 0;
    struct dump_reader again = reader;
    dump_records(&reader, &file, false);
    dump_records(&again, &file, true);
    REQUIRE(reader.end != DUMP_GOES_ON && reader.end == again.end && reader.offset <= size);

    struct history history;
    REQUIRE(jd_history_read(&history, &file, NULL) == HISTORY_OK);
    check_lives(&history);
    struct description description = {0};
    for (uint32_t i = 0; i < history.piece_count; i++) {
        REQUIRE(jd_description_read(&description, &history, &history.pieces[i], NULL));
        check_description(&description, history.pieces[i].code_size);
    }
    jd_description_free(&description);

    const struct dump_time ever = {false, UINT64_MAX};
    for (int json = 0; json < 2; json++) {
        dump_functions(&history, &file, "", ever, json != 0);
        dump_lives(&history, history.last_timestamp / 2, json != 0);
        dump_statistics(&history, &file, json != 0);
    }
    jd_history_free(&history);
    return 0;
}
