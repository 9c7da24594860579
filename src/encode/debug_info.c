#include "../platform/c_library.h"

#include "debug_info.h"

static uint64_t entry_size(const struct debug_info *info, struct text file)
{
    return sizeof(struct debug_entry) + jd_file_name(&info->file_names, file).size + 1;
}

static unsigned char *write_entry(unsigned char *to, const struct debug_info *info,
                                  uint64_t code_addr, uint32_t line, uint32_t column,
                                  struct text file)
{
    struct debug_entry *const entry = (struct debug_entry *)to;
    entry->code_addr = code_addr;
    entry->line = line;
    entry->discrim = column;
    return put_text(to + sizeof(*entry), jd_file_name(&info->file_names, file));
}

/* A table of lines, as it is given, in one of two forms */

struct line_entry {
    uint64_t offset; /* from the code's start; outside of it perhaps */
    uint32_t line;
    uint32_t column;
    struct text file;
};

static inline uint64_t entry_count(const struct jitdump_code *code, bool rows)
{
    return rows ? code->line_row_count : code->line_count;
}

static inline uint64_t entry_offset(const struct jitdump_code *code, bool rows, uint64_t i)
{
    return rows ? code->line_rows[i].code_offset : code->lines[i].code_addr - code->code_addr;
}

/* Of size 0: none. An index that is none of the files' is an error. */
static inline bool entry_file(const struct jitdump_code *code, bool rows, uint64_t i,
                              struct text *file)
{
    *file = (struct text){NULL, 0};
    if (!rows) {
        *file = text_of(code->lines[i].file, 0);
    } else if (code->line_rows[i].file != JITDUMP_NONE) {
        if (code->line_rows[i].file >= code->file_count)
            return false;
        const struct jitdump_string *string = &code->files[code->line_rows[i].file];
        if (string->size != 0)
            *file = text_of(string->bytes, string->size);
    }
    return true;
}

/* A walk over what is kept of the table: entries in the code, of equal offsets the last. Code without
 * line, once a line has gone before, is an entry with line 0 and that line's file. */
struct line_walk {
    uint64_t next;
    uint64_t end; /* of what was looked at, in offsets: nothing may lie before it */
    struct line_entry entry;
};

/* 1: an entry is there; 0: no more. Negative: an error; where `strict`, also what is not kept as it
 * is. */
static inline int next_line(const struct jitdump_code *code, bool rows, bool strict,
                            struct line_walk *walk)
{
    const uint64_t count = entry_count(code, rows);
    while (walk->next < count) {
        const uint64_t i = walk->next++;
        const uint64_t offset = entry_offset(code, rows, i);
        if (offset >= code->code_size) {
            if (strict)
                return JITDUMP_ERROR_LINES_RANGE;
            continue;
        }
        if (offset < walk->end)
            return JITDUMP_ERROR_LINES_ORDER;
        walk->end = offset + strict;
        if (!strict && walk->next < count && entry_offset(code, rows, walk->next) == offset)
            continue;
        /* What lies between them is outside of the code. */
        if (walk->entry.file.size != 0 && offset == walk->entry.offset)
            return JITDUMP_ERROR_LINES_ORDER;
        struct text file;
        if (!entry_file(code, rows, i, &file))
            return JITDUMP_ERROR_LINE_FILE;
        uint32_t line = rows ? code->line_rows[i].line : code->lines[i].line;
        if (strict && line == 0)
            return JITDUMP_ERROR_LINE_NUMBER;
        if (strict && file.size == 0)
            return JITDUMP_ERROR_LINE_FILE;
        if (line == 0 || file.size == 0) {
            if (walk->entry.line == 0)
                continue;
            line = 0;
            file = walk->entry.file;
        }
        const uint32_t column = rows ? code->line_rows[i].column : code->lines[i].column;
        walk->entry = (struct line_entry){offset, line, line != 0 ? column : 0, file};
        return 1;
    }
    return 0;
}

static inline int measure_lines(struct debug_info *info, bool rows)
{
    const bool strict = info->settings->strict;
    struct line_walk walk = {.next = 0};
    uint64_t total_size = sizeof(struct jit_code_debug_info);
    int found;
    while ((found = next_line(info->code, rows, strict, &walk)) > 0) {
        total_size += entry_size(info, walk.entry.file);
        info->entry_count++;
        /* Inside the loop: many entries with one long name must not wrap the sum. */
        if (total_size > UINT32_MAX)
            return JITDUMP_ERROR_RECORD_SIZE;
    }
    if (found < 0 || info->entry_count == 0)
        return found;
    if (walk.entry.line != 0) { /* the closing one */
        total_size += entry_size(info, walk.entry.file);
        info->entry_count++;
    }
    info->size = total_size;
    return total_size > UINT32_MAX ? JITDUMP_ERROR_RECORD_SIZE : 0;
}

static inline struct text plain_file(const struct debug_info *info, uint64_t i)
{
    const char *file = info->code->lines[i].file;
    const struct text text = {file, strlen(file)};
    return info->file_names.sources == NULL ? text : jd_file_name(&info->file_names, text);
}

/* The way of most tables, all of which is kept: two thirds of the instructions. False: not such a one, or
 * too large. */
static bool measure_plain(struct debug_info *info)
{
    const struct jitdump_code *code = info->code;
    if (code->line_count == 0)
        return false;
    uint64_t total_size = sizeof(struct jit_code_debug_info), last_size = 0;
    for (uint64_t i = 0; i < code->line_count; i++) {
        const struct jitdump_line *line = &code->lines[i];
        if (line->code_addr - code->code_addr >= code->code_size ||
            (i > 0 && line->code_addr <= line[-1].code_addr) || line->line == 0 ||
            line->file == NULL || line->file[0] == '\0')
            return false;
        last_size = sizeof(struct debug_entry) + plain_file(info, i).size + 1;
        total_size += last_size;
        if (total_size > UINT32_MAX)
            return false;
    }
    total_size += last_size; /* the closing one */
    if (total_size > UINT32_MAX)
        return false;
    info->size = total_size;
    info->entry_count = code->line_count + 1;
    return true;
}

static unsigned char *write_plain(unsigned char *to, const struct debug_info *info)
{
    const struct jitdump_code *code = info->code;
    for (uint64_t i = 0; i <= code->line_count; i++) {
        const uint64_t last = i < code->line_count ? i : i - 1;
        const struct jitdump_line *line = &code->lines[last];
        struct debug_entry *const entry = (struct debug_entry *)to;
        entry->code_addr = i == last ? line->code_addr : code->code_addr + code->code_size;
        entry->line = line->line;
        entry->discrim = line->column;
        const struct text file = plain_file(info, last);
        to = put(to + sizeof(*entry), file.bytes, file.size + 1); /* it has its NUL */
    }
    return to;
}

static int check_lines(struct debug_info *info)
{
    const struct jitdump_code *code = info->code;
    if ((code->lines == NULL && code->line_count != 0) ||
        (code->line_rows == NULL && code->line_row_count != 0) ||
        (code->files == NULL && code->file_count != 0))
        return JITDUMP_ERROR_LINES_MISSING;
    info->plain = measure_plain(info);
    if (info->plain)
        return 0;
    return code->line_row_count != 0 ? measure_lines(info, true) : measure_lines(info, false);
}

static inline unsigned char *write_entries(unsigned char *to, const struct debug_info *info,
                                           bool rows)
{
    const struct jitdump_code *code = info->code;
    struct line_walk walk = {.next = 0};
    /* What was found good when it was strict is all kept. */
    while (next_line(code, rows, false, &walk) > 0)
        to = write_entry(to, info, code->code_addr + walk.entry.offset, walk.entry.line,
                         walk.entry.column, walk.entry.file);
    /* perf takes the last entry for the end of the table: without this one, the code behind
     * the last real line would have none. */
    if (walk.entry.line != 0)
        to = write_entry(to, info, code->code_addr + code->code_size, walk.entry.line,
                         walk.entry.column, walk.entry.file);
    return to;
}

static unsigned char *write_lines(unsigned char *to, const struct debug_info *info)
{
    if (info->plain)
        return write_plain(to, info);
    return info->code->line_row_count != 0 ? write_entries(to, info, true)
                                           : write_entries(to, info, false);
}

/* A track's lines */

/* The outermost position of each chain. */
static void show_outermost(struct debug_info *info, struct scratch *scratch)
{
    const struct track *track = &info->track;
    info->shown = scratch_take(scratch, track->position_count);
    for (uint32_t i = 0; i < track->position_count; i++) {
        const uint32_t caller = track->positions[i].caller;
        info->shown[i] = caller == JITDUMP_NONE ? i : info->shown[caller];
    }
}

/* Code without line, once a line has gone before, is an entry with line 0 and that line's
 * file: DWARF's way to say so. At the end no further entry is needed to close it. */
static int measure_track_lines(struct debug_info *info)
{
    const struct track *track = &info->track;
    uint64_t total_size = sizeof(struct jit_code_debug_info);
    uint64_t entry_count = 0;
    uint32_t next = 0, position = JITDUMP_NONE;
    struct text file = {NULL, 0};
    while (jd_track_next_line(track, info->shown, &next, &position)) {
        if (jd_track_line(track, position) != 0)
            file = jd_track_file(track, position);
        total_size += entry_size(info, file);
        entry_count++;
        if (total_size > UINT32_MAX)
            return JITDUMP_ERROR_RECORD_SIZE;
    }
    if (jd_track_line(track, position) != 0) {
        total_size += entry_size(info, file);
        entry_count++;
    }
    info->entry_count = entry_count;
    info->size = entry_count != 0 ? total_size : 0;
    return total_size > UINT32_MAX ? JITDUMP_ERROR_RECORD_SIZE : 0;
}

static unsigned char *write_track_lines(unsigned char *to, const struct debug_info *info)
{
    const struct track *track = &info->track;
    const uint64_t code_addr = info->code->code_addr;
    uint32_t next = 0, position = JITDUMP_NONE;
    struct text file = {NULL, 0};
    while (jd_track_next_line(track, info->shown, &next, &position)) {
        const uint32_t line = jd_track_line(track, position);
        if (line != 0)
            file = jd_track_file(track, position);
        to = write_entry(to, info, code_addr + track->offsets[next - 1].code_offset, line,
                         jd_track_column(track, position), file);
    }
    if (jd_track_line(track, position) != 0)
        to = write_entry(to, info, code_addr + track->code_size, jd_track_line(track, position),
                         jd_track_column(track, position), file);
    return to;
}

/* Both, and the dialect's inline record */

static uint64_t inline_words(const struct debug_info *info)
{
    switch (info->settings->dialect) {
    case JITDUMP_DIALECT_SAMPLY_2023:
        return jd_inline_2023_words(&info->track);
    case JITDUMP_DIALECT_SAMPLY_2026:
        return jd_inline_2026_words(&info->track);
    default:
        return 0;
    }
}

static int measure_inlining(struct debug_info *info, struct scratch *scratch, uint64_t *size)
{
    switch (info->settings->dialect) {
    case JITDUMP_DIALECT_SAMPLY_2023:
        return jd_inline_2023_measure(&info->inline_2023, &info->track, &info->file_names, scratch,
                                      size);
    case JITDUMP_DIALECT_SAMPLY_2026:
        return jd_inline_2026_measure(&info->inline_2026, &info->track, &info->file_names, scratch,
                                      size);
    default:
        *size = 0;
        return 0;
    }
}

static int check_track(struct debug_info *info, struct scratch *scratch, uint64_t *inline_size)
{
    const struct jitdump_code *code = info->code;
    if (code->tracks == NULL)
        return JITDUMP_ERROR_TRACK_MISSING;
    struct jitdump_track copy;
    const struct jitdump_track *chosen = jd_track_choose(code, info->settings->track, &copy);
    if (chosen == NULL)
        return JITDUMP_ERROR_STRUCT_SIZE;
    int error = jd_track_check_counts(&info->track, chosen, code->code_size);
    if (error != 0)
        return error;
    const uint64_t words = track_words(&info->track) +
                           (info->settings->outermost ? info->track.position_count : 0) +
                           inline_words(info);
    if (!scratch_reserve(scratch, words))
        return JITDUMP_ERROR_NO_MEMORY;
    error = jd_track_check(&info->track, info->settings->strict, scratch);
    if (error == JITDUMP_ERROR_TRACK_EMPTY && !info->settings->strict) {
        info->nothing = true;
        return 0;
    }
    if (error == 0 && info->settings->outermost)
        show_outermost(info, scratch);
    if (error == 0)
        error = measure_track_lines(info);
    if (error == 0)
        error = measure_inlining(info, scratch, inline_size);
    return error;
}

int jd_debug_info_check(struct debug_info *info, const struct debug_info_settings *settings,
                        const struct jitdump_code *code, struct scratch *scratch, uint64_t *size)
{
    info->settings = settings;
    info->code = code;
    info->file_names = (struct file_names){
        settings->sources, settings->sources != NULL ? sources_count(settings->sources) : 0};
    info->size = 0;
    info->entry_count = 0;
    info->nothing = false;
    info->shown = NULL;

    if ((code->line_count != 0) + (code->line_row_count != 0) + (code->track_count != 0) > 1)
        return JITDUMP_ERROR_LINES_AND_TRACKS;
    uint64_t inline_size = 0;
    int error = 0;
    if (code->track_count == 0)
        error = check_lines(info);
    else
        error = check_track(info, scratch, &inline_size);
    *size = info->size + inline_size;
    return error;
}

unsigned char *jd_debug_info_write(unsigned char *to, const struct record_stamp *stamp,
                                   const struct debug_info *info)
{
    const struct jitdump_code *code = info->code;
    if (info->size != 0) {
        struct jit_code_debug_info *const record = (struct jit_code_debug_info *)to;
        record->header = record_header(JIT_CODE_DEBUG_INFO, info->size, stamp);
        record->code_addr = code->code_addr;
        record->nr_entry = info->entry_count;
        to += sizeof(*record);
        to = code->track_count == 0 ? write_lines(to, info) : write_track_lines(to, info);
    }
    if (code->track_count != 0 && !info->nothing) {
        if (info->settings->dialect == JITDUMP_DIALECT_SAMPLY_2023)
            to = jd_inline_2023_write(to, stamp, &info->inline_2023);
        if (info->settings->dialect == JITDUMP_DIALECT_SAMPLY_2026)
            to = jd_inline_2026_write(to, stamp, code->code_addr, &info->inline_2026);
    }
    return to;
}
