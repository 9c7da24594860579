#include "platform/c_library.h"

#include "itt_lines.h"

#include "system/shield.h"

#include <string.h>

static uint32_t largest_offset(const struct itt_line *lines, uint32_t count)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < count; i++)
        if (lines[i].offset > largest)
            largest = lines[i].offset;
    return largest;
}

bool jd_itt_lines_are_ends(const struct itt_line *lines, uint32_t count, uint32_t code_size,
                           struct itt_line_evidence *evidence)
{
    const char *const told = jd_process_getenv("JITDUMP_ITT_LINES");
    if (told != NULL && strcmp(told, "ends") == 0)
        return true;
    if (told != NULL && strcmp(told, "starts") == 0)
        return false;
    if (largest_offset(lines, count) >= code_size) {
        evidence->ends++;
        return true;
    }
    if (lines[0].offset == 0) {
        evidence->starts++;
        return false;
    }
    return evidence->ends >= evidence->starts;
}

/* By offset; entries of the same offset stay in their order. Mostly it is in order already. */
static void sort(struct itt_line *lines, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const struct itt_line line = lines[i];
        uint32_t low = 0;
        uint32_t high = i;
        if (lines[i - 1].offset <= line.offset)
            continue;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (lines[middle].offset <= line.offset)
                low = middle + 1;
            else
                high = middle;
        }
        memmove(&lines[low + 1], &lines[low], (i - low) * sizeof(line));
        lines[low] = line;
    }
}

/* The entry begins at `offset`: one that is there already is replaced, one of the same line left out. */
static uint32_t put(struct itt_line *to, uint32_t count, uint32_t offset, uint32_t line)
{
    if (count > 0 && to[count - 1].offset == offset)
        count--;
    if (count > 0 ? to[count - 1].line == line : line == 0)
        return count;
    to[count] = (struct itt_line){offset, line};
    return count + 1;
}

/* Works in place from the back to the front of what is read: an entry is written only where it, or one
 * before it, was read already. */
uint32_t jd_itt_lines_to_starts(struct itt_line *to, const struct itt_line *lines, uint32_t count,
                                uint32_t code_size, bool ends)
{
    uint32_t written = 0;
    uint32_t start = 0;
    if (count != 0)
        memcpy(to, lines, count * sizeof(*lines));
    sort(to, count);
    for (uint32_t i = 0; i < count && start < code_size; i++) {
        const struct itt_line entry = to[i];
        if (!ends) {
            if (entry.offset < code_size)
                written = put(to, written, entry.offset, entry.line);
        } else if (entry.offset > start) {
            written = put(to, written, start, entry.line);
            start = entry.offset;
        }
    }
    if (ends && start < code_size)
        written = put(to, written, start, 0);
    return written;
}

uint32_t jd_itt_line_at(const struct itt_line *starts, uint32_t count, uint32_t offset)
{
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (starts[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? starts[low - 1].line : 0;
}

uint32_t jd_itt_lines_forget(struct itt_line *starts, uint32_t count, uint32_t from, uint32_t to)
{
    const uint32_t behind = jd_itt_line_at(starts, count, to);
    uint32_t first = 0;
    while (first < count && starts[first].offset < from)
        first++;
    uint32_t rest = first;
    while (rest < count && starts[rest].offset <= to)
        rest++;
    memmove(&starts[first + 2], &starts[rest], (count - rest) * sizeof(*starts));
    starts[first] = (struct itt_line){from, 0};
    starts[first + 1] = (struct itt_line){to, behind};
    return first + 2 + (count - rest);
}
