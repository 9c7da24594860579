#include "tool/dump_function.h"

#include "tool/frame_text.h"
#include "tool/json.h"

static void add_string(struct json *json, const char *key, const struct description *description,
                       uint32_t string)
{
    if (string == DESCRIPTION_NONE)
        json_null(json, key);
    else
        json_text(json, key, description->strings[string]);
}

static void add_lives(struct json *json, const struct function_view *view)
{
    const struct history *const history = view->history;
    json_open(json, "lives", '[');
    for (uint32_t i = view->piece->first_life; i != HISTORY_NONE; i = history->lives[i].next) {
        const struct life *const life = &history->lives[i];
        json_open(json, NULL, '{');
        json_address(json, "address", life->address);
        json_number(json, "begin", life->begin);
        if (life->ended != LIFE_TO_THE_END)
            json_number(json, "end", life->end);
        else
            json_null(json, "end");
        json_string(json, "ended", life_end_name(life));
        if (life->covered_by != HISTORY_NONE)
            json_number(json, "covered_by",
                        history->pieces[history->lives[life->covered_by].piece].load);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void add_rows(struct json *json, const struct description *description)
{
    json_open(json, "rows", '[');
    for (uint32_t i = 0; i < description->row_count; i++) {
        const struct line_row *const row = &description->rows[i];
        json_open(json, NULL, '[');
        json_number(json, NULL, row->code_offset);
        add_string(json, NULL, description, row->file);
        json_number(json, NULL, row->line);
        json_number(json, NULL, row->column);
        json_close(json, ']');
    }
    json_close(json, ']');
}

static void add_functions(struct json *json, const struct description *description)
{
    json_open(json, "functions", '[');
    for (uint32_t i = 0; i < description->function_count; i++) {
        const struct described_function *const function = &description->functions[i];
        json_open(json, NULL, '{');
        add_string(json, "name", description, function->name);
        add_string(json, "file", description, function->file);
        json_number(json, "start_line", function->start_line);
        json_number(json, "start_column", function->start_column);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void add_calls(struct json *json, const struct description *description)
{
    json_open(json, "calls", '[');
    for (uint32_t i = 0; i < description->call_count; i++) {
        const struct inlined_call *const call = &description->calls[i];
        json_open(json, NULL, '{');
        if (call->parent != DESCRIPTION_NONE)
            json_number(json, "parent", call->parent);
        else
            json_null(json, "parent");
        json_number(json, "function", call->function);
        add_string(json, "call_file", description, call->call_file);
        json_number(json, "call_line", call->call_line);
        json_number(json, "call_column", call->call_column);
        json_open(json, "ranges", '[');
        for (uint32_t j = 0; j < call->range_count; j++) {
            const struct code_range *const range = &description->ranges[call->first_range + j];
            json_open(json, NULL, '[');
            json_number(json, NULL, range->begin);
            json_number(json, NULL, range->end);
            json_close(json, ']');
        }
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

struct frame_context {
    struct json *json;
    uint32_t elf_mach;
};

static void add_frame_row(void *context, const struct frame_row *row)
{
    const struct frame_context *const frames = context;
    struct json *const json = frames->json;
    char name[FRAME_TEXT_SIZE], text[FRAME_TEXT_SIZE];
    json_open(json, NULL, '{');
    json_number(json, "begin", row->begin);
    json_number(json, "end", row->end);
    frame_cfa_text(text, frames->elf_mach, &row->cfa);
    json_string(json, "cfa", text);
    json_open(json, "registers", '{');
    for (uint32_t i = 0; i < FRAME_REGISTER_COUNT; i++) {
        if (row->registers[i].kind == FRAME_UNSPECIFIED)
            continue;
        frame_register_text(name, frames->elf_mach, i);
        frame_rule_text(text, frames->elf_mach, &row->registers[i]);
        json_string(json, name, text);
    }
    json_close(json, '}');
    json_close(json, '}');
}

static void add_frames(struct json *json, const struct function_view *view)
{
    struct frame_context context = {json, jd_dump_machine(&view->history->reader)};
    json_open(json, "frames", '[');
    const char *const problem =
        for_each_frame_row(view->history, view->piece, add_frame_row, &context);
    json_close(json, ']');
    if (problem != NULL)
        json_string(json, "frames_problem", problem);
}

void show_function_json(const struct function_view *view)
{
    const struct piece *const piece = view->piece;
    struct json json = {.to = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "function", piece->name);
    json_number(&json, "offset", piece->load);
    json_number(&json, "timestamp", piece->timestamp);
    json_number(&json, "pid", piece->pid);
    json_number(&json, "tid", piece->tid);
    json_address(&json, "code_addr", piece->code_addr);
    json_number(&json, "code_size", piece->code_size);
    json_number(&json, "code_index", piece->code_index);
    struct tier_record tier;
    if (piece_tier(view->history, piece, &tier)) {
        json_text(&json, "tier", tier.name);
        json_number(&json, "color_index", tier.color_index);
    }
    add_lives(&json, view);
    json_string(&json, "described_by", description_source_name(view->description));
    add_rows(&json, view->description);
    add_functions(&json, view->description);
    add_calls(&json, view->description);
    add_frames(&json, view);
    json_bytes(&json, "code", piece->code, piece->code_size);
    json_close(&json, '}');
    json_end_line(&json);
}
