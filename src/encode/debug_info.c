#include "../platform/c_library.h"

#include "debug_info.h"

static uint64_t entry_size(const struct debug_info *info, const char *file)
{
    return sizeof(struct debug_entry) + strlen(jd_file_name(&info->file_names, file)) + 1;
}

static unsigned char *write_entry(unsigned char *to, const struct debug_info *info,
                                  uint64_t code_addr, uint32_t line, uint32_t column,
                                  const char *file)
{
    struct debug_entry *const entry = (struct debug_entry *)to;
    entry->code_addr = code_addr;
    entry->line = line;
    entry->discrim = column;
    file = jd_file_name(&info->file_names, file);
    return put(to + sizeof(*entry), file, strlen(file) + 1);
}

/* A table of lines, as it is given */

static int check_lines(struct debug_info *info)
{
    const struct jitdump_code *code = info->code;
    if (code->lines == NULL)
        return JITDUMP_ERROR_LINES_MISSING;

    uint64_t total_size = sizeof(struct jit_code_debug_info);
    for (uint64_t i = 0; i < code->line_count; i++) {
        const struct jitdump_line *line = &code->lines[i];
        if (line->code_addr < code->code_addr ||
            line->code_addr - code->code_addr >= code->code_size)
            return JITDUMP_ERROR_LINES_RANGE;
        if (i > 0 && line->code_addr <= line[-1].code_addr)
            return JITDUMP_ERROR_LINES_ORDER;
        if (line->line == 0)
            return JITDUMP_ERROR_LINE_NUMBER;
        if (line->file == NULL || line->file[0] == '\0')
            return JITDUMP_ERROR_LINE_FILE;
        total_size += entry_size(info, line->file);
        /* Inside the loop: many entries with one long name must not wrap the sum. */
        if (total_size > UINT32_MAX)
            return JITDUMP_ERROR_RECORD_SIZE;
    }
    total_size += entry_size(info, code->lines[code->line_count - 1].file); /* the closing one */
    info->size = total_size;
    info->entry_count = code->line_count + 1;
    return total_size > UINT32_MAX ? JITDUMP_ERROR_RECORD_SIZE : 0;
}

static unsigned char *write_lines(unsigned char *to, const struct debug_info *info)
{
    const struct jitdump_code *code = info->code;
    const struct jitdump_line *line = code->lines;
    for (uint64_t i = 0; i < code->line_count; i++) {
        line = &code->lines[i];
        to = write_entry(to, info, line->code_addr, line->line, line->column, line->file);
    }
    /* perf takes the last entry for the end of the table: without this one, the code behind
     * the last real line would have none. */
    return write_entry(to, info, code->code_addr + code->code_size, line->line, line->column,
                       line->file);
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
    const char *file = NULL;
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
    const char *file = NULL;
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
    error = jd_track_check(&info->track, scratch);
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
    info->shown = NULL;

    if (code->line_count != 0 && code->track_count != 0)
        return JITDUMP_ERROR_LINES_AND_TRACKS;
    uint64_t inline_size = 0;
    int error = 0;
    if (code->line_count != 0)
        error = check_lines(info);
    else if (code->track_count != 0)
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
        to = code->line_count != 0 ? write_lines(to, info) : write_track_lines(to, info);
    }
    if (code->track_count != 0) {
        if (info->settings->dialect == JITDUMP_DIALECT_SAMPLY_2023)
            to = jd_inline_2023_write(to, stamp, &info->inline_2023);
        if (info->settings->dialect == JITDUMP_DIALECT_SAMPLY_2026)
            to = jd_inline_2026_write(to, stamp, code->code_addr, &info->inline_2026);
    }
    return to;
}
