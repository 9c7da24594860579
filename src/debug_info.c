#include "debug_info.h"

static uint64_t entry_size(const struct jitdump_line *line)
{
    return sizeof(struct debug_entry) + strlen(line->file) + 1;
}

int debug_info_check(const struct jitdump_code *code, uint64_t *size)
{
    *size = 0;
    if (code->line_count == 0)
        return 0;
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
        total_size += entry_size(line);
        /* Inside the loop: many entries with one long name must not wrap the sum. */
        if (total_size > UINT32_MAX)
            return JITDUMP_ERROR_RECORD_SIZE;
    }
    total_size += entry_size(&code->lines[code->line_count - 1]); /* the closing entry */
    if (total_size > UINT32_MAX)
        return JITDUMP_ERROR_RECORD_SIZE;
    *size = total_size;
    return 0;
}

static unsigned char *write_entry(unsigned char *to, uint64_t code_addr,
                                  const struct jitdump_line *line)
{
    struct debug_entry *const entry = (struct debug_entry *)to;
    entry->code_addr = code_addr;
    entry->line = line->line;
    entry->discrim = line->column;
    return put(to + sizeof(*entry), line->file, strlen(line->file) + 1);
}

unsigned char *debug_info_write(unsigned char *to, const struct record_stamp *stamp,
                                const struct jitdump_code *code)
{
    struct jit_code_debug_info *const record = (struct jit_code_debug_info *)to;
    to += sizeof(*record);
    for (uint64_t i = 0; i < code->line_count; i++)
        to = write_entry(to, code->lines[i].code_addr, &code->lines[i]);
    /* perf takes the last entry for the end of the table: without this one, the code behind
     * the last real line would have none. */
    to = write_entry(to, code->code_addr + code->code_size, &code->lines[code->line_count - 1]);

    record->header =
        record_header(JIT_CODE_DEBUG_INFO, (uint64_t)(to - (unsigned char *)record), stamp);
    record->code_addr = code->code_addr;
    record->nr_entry = code->line_count + 1;
    return to;
}
