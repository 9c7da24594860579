#include "check/dump_check.h"
#include "reader/debug_entries.h"
#include "reader/read_description.h"

struct line_span {
    uint64_t last;
    uint32_t last_line;
    uint64_t outside;
    bool unsorted, same_file, colon;
};

static void take_entry(struct line_span *span, const struct debug_row *row, bool is_first,
                       const struct piece *piece)
{
    if (!is_first && row->address <= span->last)
        span->unsorted = true;
    if (row->address < piece->code_addr || row->address - piece->code_addr > piece->code_size)
        span->outside++;
    if (row->file.size == 1 && row->file.data[0] == 0xff)
        span->same_file = true;
    if (row->file.size != 0 && memchr(row->file.data, ':', (size_t)row->file.size) != NULL)
        span->colon = true;
    span->last = row->address;
    span->last_line = row->line;
}

void jd_check_lines(struct findings *findings, const struct history *history,
                    const struct piece *piece)
{
    const struct dump_reader *const reader = &history->reader;
    struct dump_record record;
    if (piece->debug_info == 0 || !jd_dump_reader_at(reader, piece->debug_info, &record))
        return;
    struct debug_entries entries;
    struct debug_row row;
    jd_debug_entries_init(&entries, history, piece, jd_dump_record_cursor(reader, &record));
    struct line_span span = {0};
    for (bool is_first = true; jd_debug_entries_next(&entries, &row); is_first = false)
        take_entry(&span, &row, is_first, piece);
    if (entries.cursor.error != NULL) {
        jd_finding_add(findings, FINDING_UNREADABLE_RECORD, record.offset, "%s",
                       entries.cursor.error);
        return;
    }
    const uint64_t count = entries.count;
    const int name_size = piece->name.size < 80 ? (int)piece->name.size : 80;
    const char *const name = (const char *)piece->name.data;
    if (entries.code_addr != piece->code_addr)
        jd_finding_add(findings, FINDING_LINES_ADDRESS, record.offset, "%.*s", name_size, name);
    if (count == 0)
        return;
    /* What follows is checked whether or not the addresses are shifted. */
    if (history->line_bias != 0)
        jd_finding_add(findings, FINDING_LINES_HEADER_ADDED, record.offset, "%.*s", name_size, name);
    if (entries.names_are_lost)
        jd_finding_add(findings, FINDING_LINES_FILE_LOST, record.offset, "%.*s", name_size, name);
    if (span.outside != 0)
        jd_finding_add(findings, FINDING_LINES_OUTSIDE, record.offset, "%.*s: %llu of %llu",
                       name_size, name, (unsigned long long)span.outside,
                       (unsigned long long)count);
    if (span.unsorted)
        jd_finding_add(findings, FINDING_LINES_ORDER, record.offset, "%.*s", name_size, name);
    if (span.same_file)
        jd_finding_add(findings, FINDING_LINES_SAME_FILE, record.offset, "%.*s", name_size, name);
    if (span.colon)
        jd_finding_add(findings, FINDING_LINES_COLON, record.offset, "%.*s", name_size, name);
    /* An entry of line 0 at the end needs no closing: there is no line to go on. */
    if (span.last_line != 0 && span.last < piece->code_addr + piece->code_size)
        jd_finding_add(findings, FINDING_LINES_SENTINEL, record.offset, "%.*s", name_size, name);
}

static void take_problem(void *context, uint64_t offset, const char *reason)
{
    jd_finding_add(context, FINDING_INLINE_UNREADABLE, offset, "%s", reason);
}

bool jd_check_inlining(struct findings *findings, const struct history *history,
                       const struct mapped_file *file)
{
    const struct problems problems = {.tell = take_problem, .context = findings};
    struct description description = {0};
    bool done = true;
    uint64_t passed = 0;
    for (uint32_t i = 0; i < history->piece_count && done; i++) {
        struct piece piece = history->pieces[i];
        piece.debug_info = 0; /* which jd_check_lines() looks at */
        if (piece.inline_2023 != 0 || piece.inline_2026 != 0)
            done = jd_description_read(&description, history, &piece, &problems);
        jd_mapped_file_pass(file, &passed, piece.load);
    }
    jd_description_free(&description);
    return done;
}
