/*
 * The code at an instant, by address.
 */
#include "tool/dump.h"

#include "tool/command.h"
#include "tool/json.h"
#include "tool/messages.h"
#include "tool/output.h"

#include <inttypes.h>
#include <stdlib.h>

static void show_json(const struct history *history, const struct life *life)
{
    const struct piece *const piece = &history->pieces[life->piece];
    struct json json = {.to = stdout};
    json_open(&json, NULL, '{');
    json_address(&json, "address", life->address);
    json_number(&json, "size", piece->code_size);
    json_text(&json, "name", piece->name);
    json_number(&json, "code_index", piece->code_index);
    json_number(&json, "load_offset", piece->load);
    json_number(&json, "begin", life->begin);
    if (life->ended != LIFE_TO_THE_END)
        json_number(&json, "end", life->end);
    else
        json_null(&json, "end");
    json_close(&json, '}');
    json_end_line(&json);
}

static void show_text(const struct history *history, const struct life *life)
{
    const struct piece *const piece = &history->pieces[life->piece];
    printf("0x%012" PRIx64 " %7" PRIu64 "  %ssince ", life->address, piece->code_size,
           style(STYLE_FAINT));
    print_time(stdout, &history->reader, life->begin);
    printf("%s  ", style(STYLE_PLAIN));
    print_name(stdout, piece->name);
    putchar('\n');
}

int dump_lives(const struct history *history, uint64_t time, bool json)
{
    uint32_t *lives;
    uint32_t count;
    if (!jd_history_at(history, time, &lives, &count)) {
        complain("out of memory");
        return STATUS_TROUBLE;
    }
    for (uint32_t i = 0; i < count && !output_failed(); i++)
        (json ? show_json : show_text)(history, &history->lives[lives[i]]);
    free(lives);
    return STATUS_OK;
}
