/*
 * The records of a dump, a line for each.
 */
#include "tool/dump.h"

#include "tool/command.h"
#include "tool/json.h"
#include "tool/output.h"
#include "tool/text.h"

#include "reader/decode.h"

#include <inttypes.h>

static const char *name_of(const struct dump_reader *reader, const struct dump_record *record)
{
    switch (record->id) {
    case JIT_CODE_LOAD:
        return "LOAD";
    case JIT_CODE_MOVE:
        return "MOVE";
    case JIT_CODE_DEBUG_INFO:
        return "DEBUG_INFO";
    case JIT_CODE_CLOSE:
        return "CLOSE";
    case JIT_CODE_UNWINDING_INFO:
        return "UNWINDING_INFO";
    case SAMPLY_JIT_CODE_DEBUG_INFO2:
        return "INLINE_2023";
    case SAMPLY_JIT_TIER:
        return jd_is_tier(reader, record) ? "TIER" : "INLINE_2026";
    case SAMPLY_EMBEDDED_SOURCE_FILE:
        return "SOURCE";
    default:
        return "UNKNOWN";
    }
}

/* The fields of one record, in either form; what is not in a record of its kind is not shown. Each
 * returns whether the record could be read. */

static bool show_load(const struct dump_reader *reader, const struct dump_record *record,
                      struct json *json, struct problem *problem)
{
    struct load_record load;
    if (!jd_decode_load(reader, record, &load, problem))
        return false;
    if (json == NULL) {
        printf("0x%" PRIx64 " %6" PRIu64 " bytes  #%" PRIu64 "  tid %" PRIu32 "  %s", load.code_addr,
               load.code_size, load.code_index, load.tid, style(STYLE_NAME));
        print_name(stdout, load.name);
        fputs(style(STYLE_PLAIN), stdout);
        return true;
    }
    json_number(json, "pid", load.pid);
    json_number(json, "tid", load.tid);
    json_address(json, "vma", load.vma);
    json_address(json, "code_addr", load.code_addr);
    json_number(json, "code_size", load.code_size);
    json_number(json, "code_index", load.code_index);
    json_text(json, "name", load.name);
    json_number(json, "padding", load.padding);
    return true;
}

static bool show_move(const struct dump_reader *reader, const struct dump_record *record,
                      struct json *json, struct problem *problem)
{
    struct move_record move;
    if (!jd_decode_move(reader, record, &move, problem))
        return false;
    if (json == NULL) {
        printf("0x%" PRIx64 " -> 0x%" PRIx64 "  %" PRIu64 " bytes  #%" PRIu64, move.old_code_addr,
               move.new_code_addr, move.code_size, move.code_index);
        return true;
    }
    json_number(json, "pid", move.pid);
    json_number(json, "tid", move.tid);
    json_address(json, "vma", move.vma);
    json_address(json, "old_code_addr", move.old_code_addr);
    json_address(json, "new_code_addr", move.new_code_addr);
    json_number(json, "code_size", move.code_size);
    json_number(json, "code_index", move.code_index);
    return true;
}

static bool show_unwinding(const struct dump_reader *reader, const struct dump_record *record,
                           struct json *json, struct problem *problem)
{
    struct unwinding_record unwinding;
    if (!jd_decode_unwinding(reader, record, &unwinding, problem))
        return false;
    if (json == NULL) {
        printf("eh_frame %" PRIu64 " bytes, eh_frame_hdr %" PRIu64 ", mapped %" PRIu64,
               unwinding.eh_frame.size, unwinding.eh_frame_hdr.size, unwinding.mapped_size);
        return true;
    }
    json_number(json, "eh_frame_size", unwinding.eh_frame.size);
    json_number(json, "eh_frame_hdr_size", unwinding.eh_frame_hdr.size);
    json_number(json, "mapped_size", unwinding.mapped_size);
    return true;
}

/* The fields in front of the list; the list is the function's, see --function. */
static bool show_debug_info(const struct dump_reader *reader, const struct dump_record *record,
                            struct json *json, struct problem *problem)
{
    static const char cut[] = "JIT_CODE_DEBUG_INFO: shorter than its fields";
    struct cursor cursor = jd_dump_record_cursor(reader, record);
    const uint64_t code_addr = cursor_u64(&cursor, cut);
    const uint64_t nr_entry = cursor_u64(&cursor, cut);
    *problem = (struct problem){cursor.error_offset, cursor.error};
    if (cursor.error != NULL)
        return false;
    if (json == NULL) {
        printf("0x%" PRIx64 " %6" PRIu64 " entries", code_addr, nr_entry);
        return true;
    }
    json_address(json, "code_addr", code_addr);
    json_number(json, "nr_entry", nr_entry);
    return true;
}

static bool show_inline_2023(const struct dump_reader *reader, const struct dump_record *record,
                             struct json *json, struct problem *problem)
{
    static const char cut[] = "SAMPLY_JIT_CODE_DEBUG_INFO2: shorter than its fields";
    static const struct {
        const char *key;
        const char *text;
    } fields[] = {
        {"file_count", " files"},
        {"file_list_size", NULL},
        {"function_names_count", NULL},
        {"function_names_list_size", NULL},
        {"function_count", " functions"},
        {"inline_call_record_count", " inlined calls"},
        {"range_count", " ranges"},
        {"line_record_count", " lines"},
    };
    struct cursor cursor = jd_dump_record_cursor(reader, record);
    const char *separator = "";
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const uint32_t value = cursor_u32(&cursor, cut);
        if (cursor.error != NULL) {
            *problem = (struct problem){cursor.error_offset, cursor.error};
            return false;
        }
        if (json != NULL) {
            json_number(json, fields[i].key, value);
        } else if (fields[i].text != NULL) {
            printf("%s%" PRIu32 "%s", separator, value, fields[i].text);
            separator = ", ";
        }
    }
    return true;
}

static bool show_inline_2026(const struct dump_reader *reader, const struct dump_record *record,
                             struct json *json, struct problem *problem)
{
    static const char cut[] = "inline record of 2026: shorter than its fields";
    struct cursor cursor = jd_dump_record_cursor(reader, record);
    const uint64_t code_addr = cursor_u64(&cursor, cut);
    const uint64_t offsets = cursor_u64(&cursor, cut);
    const uint64_t positions = cursor_u64(&cursor, cut);
    const uint64_t strings = cursor_u64(&cursor, cut);
    *problem = (struct problem){cursor.error_offset, cursor.error};
    if (cursor.error != NULL)
        return false;
    if (json == NULL) {
        printf("0x%" PRIx64 " %6" PRIu64 " offsets, %" PRIu64 " positions, %" PRIu64 " strings",
               code_addr, offsets, positions, strings);
        return true;
    }
    json_address(json, "code_addr", code_addr);
    json_number(json, "code_offset_count", offsets);
    json_number(json, "source_position_count", positions);
    json_number(json, "string_count", strings);
    return true;
}

static bool show_tier(const struct dump_reader *reader, const struct dump_record *record,
                      struct json *json, struct problem *problem)
{
    struct tier_record tier;
    if (!jd_decode_tier(reader, record, &tier, problem))
        return false;
    if (json == NULL) {
        printf("%" PRIu32 ", colour %" PRIu32 ", ", tier.tier_index, tier.color_index);
        print_name(stdout, tier.name);
        return true;
    }
    json_number(json, "tier_index", tier.tier_index);
    json_number(json, "color_index", tier.color_index);
    json_text(json, "name", tier.name);
    return true;
}

static bool show_source(const struct dump_reader *reader, const struct dump_record *record,
                        struct json *json, struct problem *problem)
{
    struct source_record source;
    if (!jd_decode_source(reader, record, &source, problem))
        return false;
    if (json == NULL) {
        printf("%" PRIu64 " bytes, ", source.text.size);
        print_name(stdout, source.path);
        return true;
    }
    json_text(json, "path", source.path);
    json_text(json, "source", source.text);
    return true;
}

static bool show_fields(const struct dump_reader *reader, const struct dump_record *record,
                        struct json *json, struct problem *problem)
{
    switch (record->id) {
    case JIT_CODE_LOAD:
        return show_load(reader, record, json, problem);
    case JIT_CODE_MOVE:
        return show_move(reader, record, json, problem);
    case JIT_CODE_DEBUG_INFO:
        return show_debug_info(reader, record, json, problem);
    case JIT_CODE_CLOSE:
        return true;
    case JIT_CODE_UNWINDING_INFO:
        return show_unwinding(reader, record, json, problem);
    case SAMPLY_JIT_CODE_DEBUG_INFO2:
        return show_inline_2023(reader, record, json, problem);
    case SAMPLY_JIT_TIER:
        return jd_is_tier(reader, record) ? show_tier(reader, record, json, problem)
                                          : show_inline_2026(reader, record, json, problem);
    case SAMPLY_EMBEDDED_SOURCE_FILE:
        return show_source(reader, record, json, problem);
    default:
        if (json == NULL)
            printf("id %" PRIu32 ", %" PRIu64 " bytes", record->id, record->payload.size);
        return true;
    }
}

static void show_header(const struct dump_reader *reader, struct json *json)
{
    const struct jitdump_file_header *const header = &reader->header;
    char buffer[32];
    const char *const order = jd_dump_is_big_endian(reader) ? "big" : "little";
    const bool arch = (header->flags & JITDUMP_FLAGS_ARCH_TIMESTAMP) != 0;
    if (json == NULL) {
        printf("# %s, %s-endian, pid %" PRIu32 ", times %s, opened at ",
               machine_name(jd_dump_machine(reader), buffer), order, header->pid,
               arch ? "of the time stamp counter" : "in seconds");
        print_time(stdout, reader, header->timestamp);
        printf("\n%s#   offset               time  record%s\n", style(STYLE_FAINT),
               style(STYLE_PLAIN));
        return;
    }
    json_open(json, NULL, '{');
    json_string(json, "record", "HEADER");
    json_string(json, "byte_order", order);
    json_number(json, "version", header->version);
    json_number(json, "total_size", header->total_size);
    json_number(json, "elf_mach", header->elf_mach);
    json_string(json, "machine", machine_name(jd_dump_machine(reader), buffer));
    json_number(json, "pid", header->pid);
    json_number(json, "timestamp", header->timestamp);
    json_number(json, "flags", header->flags);
    json_close(json, '}');
    json_end_line(json);
}

static bool show_text(const struct dump_reader *reader, const struct dump_record *record)
{
    struct problem problem;
    printf("%s0x%08" PRIx64 "  ", style(STYLE_FAINT), record->offset);
    print_time(stdout, reader, record->timestamp);
    /* What has no fields gets no spaces behind it. */
    printf("%s  %-*s", style(STYLE_PLAIN), record->payload.size > 0 ? 16 : 0, name_of(reader, record));
    const bool read = show_fields(reader, record, NULL, &problem);
    if (!read)
        printf("%sat offset 0x%" PRIx64 ": %s%s", style(STYLE_PROBLEM), problem.offset,
               problem.reason, style(STYLE_PLAIN));
    putchar('\n');
    return read;
}

static bool show_json(const struct dump_reader *reader, const struct dump_record *record,
                      struct json *json)
{
    struct problem problem;
    json_open(json, NULL, '{');
    json_string(json, "record", name_of(reader, record));
    json_number(json, "offset", record->offset);
    json_number(json, "id", record->id);
    json_number(json, "total_size", record->total_size);
    json_number(json, "timestamp", record->timestamp);
    const bool read = show_fields(reader, record, json, &problem);
    if (!read) {
        json_number(json, "problem_offset", problem.offset);
        json_string(json, "problem", problem.reason);
    }
    json_close(json, '}');
    json_end_line(json);
    return read;
}

int dump_records(struct dump_reader *reader, const struct mapped_file *file, bool json_wanted)
{
    struct json json = {.to = stdout};
    struct dump_record record;
    uint64_t passed = 0;
    bool all_read = true;
    show_header(reader, json_wanted ? &json : NULL);
    while (!output_failed() && jd_dump_reader_next(reader, &record)) {
        all_read &= json_wanted ? show_json(reader, &record, &json) : show_text(reader, &record);
        jd_mapped_file_pass(file, &passed, record.offset);
    }
    return all_read ? STATUS_OK : STATUS_TROUBLE;
}
