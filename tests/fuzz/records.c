#include "records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/records.h"

_Noreturn void wrong(const char *what, uint64_t is, uint64_t should)
{
    fprintf(stderr, "WRONG: %s: %" PRIu64 " (0x%" PRIx64 "), not %" PRIu64 " (0x%" PRIx64 ")\n",
            what, is, is, should, should);
    abort();
}

const void *read_bytes(struct reader *reader, size_t size)
{
    if (size > reader->left)
        wrong("bytes cut short: left", reader->left, size);
    const void *bytes = reader->at;
    reader->at += size;
    reader->left -= size;
    return bytes;
}

const char *read_string(struct reader *reader)
{
    const unsigned char *nul = memchr(reader->at, 0, reader->left);
    if (nul == NULL)
        wrong("string without NUL", 0, 1);
    return read_bytes(reader, (size_t)(nul - reader->at) + 1);
}

uint32_t read_record(struct reader *reader, struct reader *payload, uint64_t *timestamp)
{
    struct jit_record_header header;
    memcpy(&header, read_bytes(reader, sizeof(header)), sizeof(header));
    if (header.total_size < sizeof(header))
        wrong("total_size", header.total_size, sizeof(header));
    payload->left = header.total_size - sizeof(header);
    payload->at = read_bytes(reader, payload->left);
    if (header.timestamp < *timestamp)
        wrong("timestamp", header.timestamp, *timestamp);
    *timestamp = header.timestamp;
    return header.id;
}

static void expect_string(const char *what, const char *is, const char *should)
{
    if (strcmp(is, should) != 0) {
        fprintf(stderr, "%s: \"%s\", not \"%s\"\n", what, is, should);
        wrong(what, 0, 1);
    }
}

/* Lines */

uint32_t position_at(const struct jitdump_track *track, uint32_t code_offset)
{
    uint32_t position = JITDUMP_NONE;
    for (uint64_t i = 0; i < track->offset_count; i++)
        if (track->offsets[i].code_offset <= code_offset)
            position = track->offsets[i].position;
    return position;
}

struct place place_of(const struct jitdump_track *track, uint32_t position)
{
    struct place place = {0, 0, NULL};
    if (position == JITDUMP_NONE)
        return place;
    const struct jitdump_position *at = &track->positions[position];
    const char *file = track->functions[at->function].file;
    if (at->line != 0 && file != NULL && file[0] != '\0')
        place = (struct place){at->line, at->column, file};
    return place;
}

static const struct jitdump_track *chosen_track(const struct jitdump_code *code, const char *name)
{
    for (uint64_t i = 0; i < code->track_count; i++)
        if (code->tracks[i].name != NULL && strcmp(code->tracks[i].name, name) == 0)
            return &code->tracks[i];
    return &code->tracks[0];
}

static struct place shown_place(const struct file_facts *file, const struct jitdump_track *track,
                                uint32_t code_offset)
{
    uint32_t position = position_at(track, code_offset);
    while (file->outermost && position != JITDUMP_NONE &&
           track->positions[position].caller != JITDUMP_NONE)
        position = track->positions[position].caller;
    return place_of(track, position);
}

struct entry {
    uint64_t code_addr;
    struct place place;
};

static struct entry read_entry(struct reader *payload)
{
    struct debug_entry entry;
    memcpy(&entry, read_bytes(payload, sizeof(entry)), sizeof(entry));
    const char *file = read_string(payload);
    return (struct entry){entry.code_addr, {entry.line, entry.discrim, file}};
}

void expect_file(const struct file_facts *file, const char *is, const char *should)
{
    const enum known known = file->has_source_file != NULL
                                 ? file->has_source_file(file->context, should)
                                 : KNOWN_NOT;
    const bool is_source_file =
        known != KNOWN_NOT &&
        strncmp(is, file->source_file_prefix, strlen(file->source_file_prefix)) == 0;
    if (known == KNOWN && !is_source_file)
        expect_string("file of a source", is, file->source_file_prefix);
    if (!is_source_file)
        expect_string("file", is, should);
}

static void expect_place(const struct file_facts *file, struct place is, struct place should)
{
    expect("line", is.line, should.line);
    if (should.line == 0)
        return;
    expect("column", is.column, should.column);
    expect_file(file, is.file, should.file);
}

/* Entries of tracks: what holds between two of them is what the track says of each offset in
 * between that it knows. */
static void check_track_lines(struct reader *payload, uint64_t count, const struct file_facts *file,
                              const struct jitdump_code *code)
{
    const struct jitdump_track *track = chosen_track(code, file->track);
    struct entry entry = {code->code_addr, {0, 0, NULL}};
    uint64_t read = 0, next = 0;
    struct entry following = read_entry(payload);
    while (read < count) {
        for (; next < track->offset_count; next++) {
            const uint64_t code_addr = code->code_addr + track->offsets[next].code_offset;
            if (code_addr >= following.code_addr)
                break;
            expect_place(file, entry.place,
                         shown_place(file, track, track->offsets[next].code_offset));
        }
        if (read != 0 && following.code_addr <= entry.code_addr)
            wrong("entry not ascending", following.code_addr, entry.code_addr);
        entry = following;
        if (++read < count)
            following = read_entry(payload);
    }
    for (; next < track->offset_count && track->offsets[next].code_offset < code->code_size; next++)
        expect_place(file, entry.place, shown_place(file, track, track->offsets[next].code_offset));
    /* perf takes the last entry for the end of the table. */
    if (entry.place.line != 0)
        expect("closing entry", entry.code_addr, code->code_addr + code->code_size);
}

/* The string of a size, with a NUL, until the next call. */
static const char *terminated(const char *bytes, uint64_t size)
{
    static char text[1 << 16];
    if (bytes == NULL || size == 0)
        return bytes;
    if (size >= sizeof(text))
        wrong("size of a string", size, sizeof(text));
    memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

static uint64_t table_count(const struct jitdump_code *code)
{
    return code->line_row_count != 0 ? code->line_row_count : code->line_count;
}

static uint64_t table_offset(const struct jitdump_code *code, uint64_t i)
{
    return code->line_row_count != 0 ? code->line_rows[i].code_offset
                                     : code->lines[i].code_addr - code->code_addr;
}

/* What a table of lines says of an offset: the last entry at or before it does. */
static struct place table_place(const struct jitdump_code *code, uint64_t offset)
{
    struct place place = {0, 0, NULL};
    for (uint64_t i = 0; i < table_count(code); i++) {
        if (table_offset(code, i) > offset)
            continue;
        if (code->line_row_count != 0) {
            const struct jitdump_line_row *row = &code->line_rows[i];
            const struct jitdump_string *string =
                row->file != JITDUMP_NONE ? &code->files[row->file] : NULL;
            place = (struct place){row->line, row->column,
                                   string != NULL && string->size != 0
                                       ? terminated(string->bytes, string->size) : NULL};
        } else {
            const struct jitdump_line *line = &code->lines[i];
            place = (struct place){line->line, line->column, line->file};
        }
    }
    if (place.line == 0 || place.file == NULL || place.file[0] == '\0')
        place = (struct place){0, 0, NULL};
    return place;
}

static void check_table_lines(struct reader *payload, uint64_t count, const struct file_facts *file,
                              const struct jitdump_code *code)
{
    enum { ENTRIES_MAX = 64 };
    struct entry entries[ENTRIES_MAX];
    if (count > ENTRIES_MAX || count == 0)
        wrong("nr_entry", count, table_count(code) + 1);
    for (uint64_t i = 0; i < count; i++) {
        entries[i] = read_entry(payload);
        if (i != 0 && entries[i].code_addr <= entries[i - 1].code_addr)
            wrong("entry not ascending", entries[i].code_addr, entries[i - 1].code_addr);
    }
    for (uint64_t i = 0; i < table_count(code); i++) {
        const uint64_t offset = table_offset(code, i);
        if (offset >= code->code_size)
            continue;
        struct place is = {0, 0, NULL};
        for (uint64_t j = 0; j < count; j++)
            if (entries[j].code_addr - code->code_addr <= offset)
                is = entries[j].place;
        expect_place(file, is, table_place(code, offset));
    }
    /* perf takes the last entry for the end of the table. */
    if (entries[count - 1].place.line != 0)
        expect("closing entry", entries[count - 1].code_addr, code->code_addr + code->code_size);
}

static void check_debug_info(struct reader payload, const struct file_facts *file,
                             const struct jitdump_code *code)
{
    uint64_t fields[2];
    memcpy(fields, read_bytes(&payload, sizeof(fields)), sizeof(fields));
    expect("DEBUG_INFO code_addr", fields[0], code->code_addr);
    if (code->track_count != 0)
        check_track_lines(&payload, fields[1], file, code);
    else
        check_table_lines(&payload, fields[1], file, code);
    expect("bytes left in DEBUG_INFO", payload.left, 0);
}

/* Whether some offset has a line, and so there is a record. */
static bool has_lines(const struct file_facts *file, const struct jitdump_code *code)
{
    if (code->track_count == 0) {
        for (uint64_t i = 0; i < table_count(code); i++)
            if (table_offset(code, i) < code->code_size &&
                table_place(code, table_offset(code, i)).line != 0)
                return true;
        return false;
    }
    const struct jitdump_track *track = chosen_track(code, file->track);
    for (uint64_t i = 0; i < track->offset_count; i++)
        if (track->offsets[i].code_offset < code->code_size &&
            shown_place(file, track, track->offsets[i].code_offset).line != 0)
            return true;
    return false;
}

static bool track_says_something(const struct file_facts *file, const struct jitdump_code *code)
{
    if (code->track_count == 0)
        return false;
    const struct jitdump_track *track = chosen_track(code, file->track);
    for (uint64_t i = 0; i < track->offset_count; i++)
        if (track->offsets[i].code_offset < code->code_size &&
            position_at(track, track->offsets[i].code_offset) != JITDUMP_NONE)
            return true;
    return false;
}

/* The others */

static void check_tier(struct reader payload, const struct tier_facts *tier)
{
    uint32_t fields[2];
    memcpy(fields, read_bytes(&payload, sizeof(fields)), sizeof(fields));
    expect("tier_index", fields[0], tier->number);
    expect("color_index", fields[1], tier->color);
    expect_string("tier's name", read_string(&payload), tier->name);
    if (payload.left > 3 || (strlen(tier->name) + 1 + payload.left) % 4 != 0)
        wrong("tier's padding", payload.left, 0);
}

static void check_unwinding_info(struct reader payload, const struct file_facts *file,
                                 const struct jitdump_code *code)
{
    uint64_t fields[3];
    memcpy(fields, read_bytes(&payload, sizeof(fields)), sizeof(fields));
    expect("unwind_data_size", fields[0], payload.left);
    expect("mapped_size", fields[2], fields[0]);
    if (fields[1] == 0 || fields[1] >= fields[0])
        wrong("eh_frame_hdr_size", fields[1], fields[0]);
    const uint64_t frame_size = fields[0] - fields[1];
    if (code->unwind != NULL) {
        check_unwinding(payload.at, frame_size, fields[1], file->elf_mach, code);
        return;
    }
    if (code->eh_frame_hdr == NULL) {
        check_copied_unwinding(payload.at, frame_size, fields[1], code);
        return;
    }
    expect("eh_frame's size", frame_size, code->eh_frame_size);
    expect("eh_frame_hdr's size", fields[1], code->eh_frame_hdr_size);
    if (memcmp(payload.at, code->eh_frame, frame_size) != 0 ||
        memcmp(payload.at + frame_size, code->eh_frame_hdr, fields[1]) != 0)
        wrong("unwinding data", 0, 1);
}

static void check_load(struct reader payload, const struct file_facts *file,
                       const struct tier_facts *tier, const struct jitdump_code *code,
                       uint64_t code_index, bool has_code)
{
    const size_t head_size = sizeof(struct jit_code_load) - sizeof(struct jit_record_header);
    struct jit_code_load load;
    memcpy((char *)&load + sizeof(struct jit_record_header), read_bytes(&payload, head_size),
           head_size);
    expect("pid", load.pid, file->pid);
    expect("tid", load.tid, file->tid);
    expect("vma", load.vma, code->code_addr);
    expect("code_addr", load.code_addr, code->code_addr);
    expect("code_size", load.code_size, code->code_size);
    expect("code_index", load.code_index, code_index);
    const char *name = read_string(&payload);
    const size_t prefix_size = tier->number != 0 ? strlen(tier->prefix) : 0;
    if (prefix_size != 0 && strncmp(name, tier->prefix, prefix_size) != 0)
        wrong("name's prefix", 0, 1);
    expect_string("name", name + prefix_size, terminated(code->name, code->name_size));
    expect("the code's bytes", payload.left, has_code ? code->code_size : 0);
    const void *bytes = code->code_bytes != NULL ? code->code_bytes
                                                 : (const void *)(uintptr_t)code->code_addr;
    if (payload.left != 0 && memcmp(payload.at, bytes, payload.left) != 0)
        wrong("code", 0, 1);
}

void check_group(struct reader *reader, const struct file_facts *file,
                 const struct tier_facts *tier, const struct jitdump_code *code,
                 uint64_t code_index, bool has_code, uint64_t *timestamp)
{
    bool debug_info = false, inlining = false, tier_record = false, unwinding = false;
    uint64_t first = 0;
    for (uint32_t id = UINT32_MAX; id != JIT_CODE_LOAD;) {
        struct reader payload;
        id = read_record(reader, &payload, timestamp);
        if (first != 0)
            expect("one timestamp in the group", *timestamp, first);
        first = *timestamp;
        if (id == JIT_CODE_DEBUG_INFO && !debug_info) {
            check_debug_info(payload, file, code);
            debug_info = true;
        } else if (id == SAMPLY_JIT_CODE_DEBUG_INFO2 && !inlining &&
                   file->dialect == JITDUMP_DIALECT_SAMPLY_2023) {
            check_inline_2023(payload, file, chosen_track(code, file->track),
                              (uint32_t)code->code_size);
            inlining = true;
        } else if (id == SAMPLY_JIT_CODE_DEBUG_INFO_2026 && !inlining &&
                   file->dialect == JITDUMP_DIALECT_SAMPLY_2026) {
            check_inline_2026(payload, file, chosen_track(code, file->track), code);
            inlining = true;
        } else if (id == SAMPLY_JIT_TIER && !tier_record && file->tier_records) {
            check_tier(payload, tier);
            tier_record = true;
        } else if (id == JIT_CODE_UNWINDING_INFO && !unwinding) {
            check_unwinding_info(payload, file, code);
            unwinding = true;
        } else if (id == JIT_CODE_LOAD) {
            check_load(payload, file, tier, code, code_index, has_code);
        } else {
            wrong("record of a function", id, JIT_CODE_LOAD);
        }
    }
    expect("a DEBUG_INFO", debug_info, has_lines(file, code));
    expect("an inline record", inlining,
           file->dialect != JITDUMP_DIALECT_PERF && track_says_something(file, code));
    expect("a tier record", tier_record, tier->number != 0 && file->tier_records);
    /* A section may have no FDE for the code. */
    if (code->unwind != NULL || code->eh_frame_size == 0 || code->eh_frame_hdr_size != 0)
        expect("an UNWINDING_INFO", unwinding, code->unwind != NULL || code->eh_frame_size != 0);
}
