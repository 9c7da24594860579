#include "tool/dump_function.h"

#include "tool/disassemble.h"
#include "tool/dump.h"
#include "tool/frame_text.h"
#include "tool/output.h"
#include "tool/text.h"

#include <inttypes.h>

static void print_place(const struct description *description, uint32_t file, uint32_t line,
                        uint32_t column)
{
    if (file == DESCRIPTION_NONE)
        putchar('?');
    else
        print_text(stdout, description->strings[file]);
    printf(":%" PRIu32, line);
    if (column != 0)
        printf(":%" PRIu32, column);
}

static void print_row(const struct description *description, const struct line_row *row)
{
    if (row->line == 0)
        fputs("no line", stdout);
    else
        print_place(description, row->file, row->line, row->column);
}

static void print_function_name(const struct description *description, uint32_t function)
{
    print_name(stdout, description->strings[description->functions[function].name]);
}

static void show_lives(const struct function_view *view)
{
    const struct history *const history = view->history;
    for (uint32_t i = view->piece->first_life; i != HISTORY_NONE; i = history->lives[i].next) {
        const struct life *const life = &history->lives[i];
        printf("  0x%" PRIx64 "-0x%" PRIx64 "  from ", life->address,
               life->address + view->piece->code_size);
        print_time(stdout, &history->reader, life->begin);
        fputs(" to ", stdout);
        if (life->ended == LIFE_TO_THE_END) {
            fputs("the end", stdout);
        } else {
            print_time(stdout, &history->reader, life->end);
            printf(", %s", life_end_name(life));
        }
        if (life->covered_by != HISTORY_NONE) {
            fputs(" by ", stdout);
            print_name(stdout, history->pieces[history->lives[life->covered_by].piece].name);
        }
        putchar('\n');
    }
}

static void show_lines(const struct description *description)
{
    if (description->row_count == 0)
        return;
    printf("  lines, of %s\n", description_source_name(description));
    for (uint32_t i = 0; i < description->row_count; i++) {
        printf("    +0x%-6" PRIx32 " ", description->rows[i].code_offset);
        print_row(description, &description->rows[i]);
        putchar('\n');
    }
}

static void show_calls(const struct description *description)
{
    if (description->call_count == 0)
        return;
    puts("  inlined calls");
    for (uint32_t i = 0; i < description->call_count; i++) {
        const struct inlined_call *const call = &description->calls[i];
        printf("    %*s", (int)(call->depth < 20 ? 2 * call->depth : 40), "");
        print_function_name(description, call->function);
        fputs(" called at ", stdout);
        print_place(description, call->call_file, call->call_line, call->call_column);
        for (uint32_t j = 0; j < call->range_count; j++) {
            const struct code_range *const range = &description->ranges[call->first_range + j];
            printf("%s +0x%" PRIx32 "-0x%" PRIx32, j > 0 ? "," : " ", range->begin, range->end);
        }
        putchar('\n');
    }
}

static void show_frame_row(void *context, const struct frame_row *row)
{
    const struct function_view *const view = context;
    const uint32_t elf_mach = jd_dump_machine(&view->history->reader);
    char name[FRAME_TEXT_SIZE], text[FRAME_TEXT_SIZE];
    frame_cfa_text(text, elf_mach, &row->cfa);
    printf("    +0x%-6" PRIx64 " cfa %s", row->begin, text);
    for (uint32_t i = 0; i < FRAME_REGISTER_COUNT; i++) {
        if (row->registers[i].kind == FRAME_UNSPECIFIED)
            continue;
        frame_register_text(name, elf_mach, i);
        frame_rule_text(text, elf_mach, &row->registers[i]);
        printf("  %s %s", name, text);
    }
    printf("%s\n", row->return_address_signed ? "  return address signed" : "");
}

static void show_frames(const struct function_view *view)
{
    if (view->piece->unwinding == 0)
        return;
    puts("  call frame information");
    const char *const problem =
        for_each_frame_row(view->history, view->piece, show_frame_row, (void *)(uintptr_t)view);
    if (problem != NULL)
        printf("    %s%s%s\n", style(STYLE_PROBLEM), problem, style(STYLE_PLAIN));
}

/* What was printed last in front of an instruction. */
struct code_context {
    const struct function_view *view;
    const struct line_row *row;
    uint32_t call;
};

static void show_instruction(void *context, uint64_t address, const char *text)
{
    struct code_context *const code = context;
    const struct description *const description = code->view->description;
    const uint32_t code_offset = (uint32_t)(address - code->view->address);
    const struct line_row *const row = jd_description_row_at(description, code_offset);
    const uint32_t call = jd_description_call_at(description, code_offset);
    if (row != NULL && (row != code->row || call != code->call)) {
        printf("    %s", style(STYLE_FAINT));
        print_row(description, row);
        for (uint32_t i = call; i != DESCRIPTION_NONE; i = description->calls[i].parent) {
            fputs(" in ", stdout);
            print_function_name(description, description->calls[i].function);
            fputs(" called at ", stdout);
            print_place(description, description->calls[i].call_file, description->calls[i].call_line,
                        description->calls[i].call_column);
        }
        printf("%s\n", style(STYLE_PLAIN));
    }
    code->row = row;
    code->call = call;
    printf("      %" PRIx64 ":  ", address);
    print_string(stdout, text);
    putchar('\n');
}

static void show_code(const struct function_view *view)
{
    const struct dump_reader *const reader = &view->history->reader;
    if (view->piece->code_size == 0)
        return;
    const struct disassembly disassembly = {
        .elf_mach = jd_dump_machine(reader),
        .big_endian = jd_dump_is_big_endian(reader),
        .address = view->address,
        .code = view->piece->code,
        .size = view->piece->code_size,
    };
    struct code_context context = {view, NULL, DESCRIPTION_NONE};
    puts("  code");
    const char *const problem = disassemble(&disassembly, show_instruction, &context);
    if (problem != NULL)
        printf("    not shown: %s\n", problem);
}

void show_function_text(const struct function_view *view)
{
    const struct piece *const piece = view->piece;
    fputs(style(STYLE_NAME), stdout);
    print_name(stdout, piece->name);
    printf("%s\n  %" PRIu64 " bytes, code_index %" PRIu64 ", loaded at ", style(STYLE_PLAIN),
           piece->code_size, piece->code_index);
    print_time(stdout, &view->history->reader, piece->timestamp);
    printf(" by thread %" PRIu32 ", in the file at 0x%" PRIx64 "\n", piece->tid, piece->load);
    struct tier_record tier;
    if (piece_tier(view->history, piece, &tier)) {
        fputs("  tier ", stdout);
        print_name(stdout, tier.name);
        putchar('\n');
    }
    show_lives(view);
    show_lines(view->description);
    show_calls(view->description);
    show_frames(view);
    show_code(view);
}
