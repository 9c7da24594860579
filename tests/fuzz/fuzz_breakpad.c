/*
 * Any bytes as a dump, read and written as Breakpad symbol files: nothing may be touched that is not
 * there, memory may run out anywhere, and of what is called a success each line is one that the
 * strictest reader takes.
 *
 * The first byte has options, the second says which allocation fails; the dump follows.
 */
#define _GNU_SOURCE
#include "failing_memory.h"
#include "target.h"

#include "reader/read_history.h"
#include "writers/breakpad_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *target_output;

enum { HALF_TIME = 1, JOINED = 2, NARROW = 4 };

static void expect(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "not so: %s\n", what);
        abort();
    }
}

/* What has been read of the file so far. */
struct seen {
    uint64_t files;
    uint64_t origins;
    uint64_t function_end; /* of the last function; 0: none yet */
    uint64_t line_end;     /* of its last line */
    uint64_t level;        /* the highest that the next inlined call may have */
    uint64_t frames_end;
    uint64_t frames_at;
    bool in_frames;
};

static uint64_t number(char **at, int base)
{
    char *end;
    expect(**at != '-' && **at != ' ' && **at != '+', "a number");
    const unsigned long long value = strtoull(*at, &end, base);
    expect(end > *at && end - *at <= 16 && (*end == ' ' || *end == '\0'), "a number's end");
    *at = *end == ' ' ? end + 1 : end;
    return value;
}

static uint64_t size(char **at)
{
    const uint64_t value = number(at, 16);
    expect(value > 0 && value <= UINT32_MAX, "a size of 32 bits");
    return value;
}

static void check_name(const char *name)
{
    const size_t length = strlen(name);
    expect(length > 0 && length <= 4096, "a name");
    expect(name[0] != ' ' && name[length - 1] != ' ', "no spaces at its ends");
    for (size_t i = 0; i < length; i++)
        expect((unsigned char)name[i] >= 0x20, "no control characters");
}

static void check_function(struct seen *seen, char *at)
{
    const uint64_t begin = number(&at, 16);
    expect(begin >= seen->function_end, "functions ascend");
    seen->function_end = begin + size(&at);
    seen->line_end = begin;
    seen->level = 0;
    expect(number(&at, 16) == 0, "no parameters");
    check_name(at);
}

static void check_call(struct seen *seen, char *at)
{
    const uint64_t level = number(&at, 10);
    expect(level <= seen->level, "levels go up by one");
    seen->level = level + 1;
    expect(number(&at, 10) <= UINT32_MAX, "a line");
    expect(number(&at, 10) < seen->files, "a file");
    expect(number(&at, 10) < seen->origins, "a function");
    uint64_t end = 0;
    unsigned int ranges = 0;
    for (; *at != '\0'; ranges++) {
        const uint64_t begin = number(&at, 16);
        expect(begin >= end, "ranges ascend");
        end = begin + size(&at);
    }
    expect(ranges > 0 && ranges <= 254 && end <= seen->function_end, "ranges");
}

static void check_line_record(struct seen *seen, char *at)
{
    const uint64_t begin = number(&at, 16);
    expect(begin >= seen->line_end, "lines ascend");
    seen->line_end = begin + size(&at);
    expect(seen->line_end <= seen->function_end, "lines in their function");
    expect(number(&at, 10) <= UINT32_MAX, "a line");
    expect(number(&at, 10) < seen->files, "a file");
    expect(*at == '\0', "nothing behind it");
}

static void check_rules(const char *at, bool all)
{
    expect(*at != '\0', "rules");
    if (all)
        expect(strncmp(at, ".cfa: ", 6) == 0 && strstr(at, " .ra: ") != NULL, "CFA and return address");
}

static void check_frames(struct seen *seen, char *at)
{
    seen->in_frames = true;
    if (strncmp(at, "INIT ", 5) == 0) {
        at += 5;
        seen->frames_at = number(&at, 16);
        expect(seen->frames_at >= seen->frames_end, "frames ascend");
        seen->frames_end = seen->frames_at + size(&at);
        check_rules(at, true);
    } else {
        const uint64_t here = number(&at, 16);
        expect(here > seen->frames_at && here < seen->frames_end, "changes within");
        seen->frames_at = here;
        check_rules(at, false);
    }
}

/* Behind `text`, if the line begins with it. */
static char *behind(char *line, const char *text)
{
    const size_t length = strlen(text);
    return strncmp(line, text, length) == 0 ? line + length : NULL;
}

static void check_record(struct seen *seen, uint64_t index, char *line)
{
    char *at;
    if (index < 2) {
        expect(behind(line, index == 0 ? "MODULE Linux " : "INFO CODE_ID ") != NULL, "its head");
    } else if ((at = behind(line, "FILE ")) != NULL) {
        expect(number(&at, 10) == seen->files++ && seen->origins == 0, "files in order");
        check_name(at);
    } else if ((at = behind(line, "INLINE_ORIGIN ")) != NULL) {
        expect(number(&at, 10) == seen->origins++ && seen->function_end == 0, "names in order");
        check_name(at);
    } else if ((at = behind(line, "FUNC ")) != NULL) {
        expect(!seen->in_frames, "functions before frames");
        check_function(seen, at);
    } else if ((at = behind(line, "INLINE ")) != NULL) {
        check_call(seen, at);
    } else if ((at = behind(line, "STACK CFI ")) != NULL) {
        check_frames(seen, at);
    } else {
        check_line_record(seen, line);
    }
}

static void check_file(int fd)
{
    const off_t length = lseek(fd, 0, SEEK_END);
    char *const text = __real_malloc((size_t)length + 1);
    expect(pread(fd, text, (size_t)length, 0) == length, "it is read");
    text[length] = '\0';
    expect(strlen(text) == (size_t)length && length > 0 && text[length - 1] == '\n', "lines");
    struct seen seen = {.files = 0};
    uint64_t index = 0;
    char *line = text;
    for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        check_record(&seen, index++, line);
    }
    free(text);
}

static void write_regions(const struct history *history, struct code_regions *regions)
{
    static int fd = -1, scratch[BREAKPAD_SCRATCH_FILES];
    if (fd < 0) {
        fd = memfd_create("symbols", 0);
        for (int i = 0; i < BREAKPAD_SCRATCH_FILES; i++)
            scratch[i] = memfd_create("scratch", 0);
    }
    uint64_t end = 0;
    for (size_t i = 0; i < regions->count; i++) {
        struct breakpad_module module = {
            .history = history, .region = regions->regions[i], .name = "jit"};
        const struct code_region *const region = &module.region;
        expect(region->base >= end && region->count > 0, "regions are disjoint, and not empty");
        end = region->base + region->size;
        for (size_t k = 0; k < region->count; k++)
            expect(region->pieces[k].address >= region->base &&
                       region->pieces[k].address + region->pieces[k].piece->code_size <= end,
                   "pieces are in their region");
        for (int k = 0; k < BREAKPAD_SCRATCH_FILES; k++)
            expect(ftruncate(fd, 0) == 0 && ftruncate(scratch[k], 0) == 0, "empty files");
        const enum breakpad_error error = breakpad_write(fd, scratch, &module, NULL);
        expect(error != BREAKPAD_NOT_WRITTEN, "files in memory can be written");
        if (error == BREAKPAD_OK) {
            struct breakpad_module same = module;
            check_file(fd);
            breakpad_identify(&same, NULL);
            expect(memcmp(same.build_id, module.build_id, DIGEST_SIZE) == 0, "one id");
        }
    }
}

/* All addresses, or two mappings next to each other around the first piece's end. */
static void divide(const struct history *history, struct placed *pieces, size_t count, uint8_t bits)
{
    const uint64_t middle =
        count > 0 ? (pieces[0].address + pieces[0].piece->code_size) / 2 * 2 : 4096;
    struct memory_range ranges[2] = {{0, UINT64_MAX}};
    if ((bits & NARROW) != 0 && middle > 4096 && middle < UINT64_MAX - 65536) {
        ranges[0] = (struct memory_range){middle - 4096, middle};
        ranges[1] = (struct memory_range){middle, middle + 65536};
    }
    const struct memory_map map = {.ranges = ranges, .count = ranges[1].end > 0 ? 2 : 1};
    struct code_regions regions;
    if (code_regions_divide(&regions, &map, (bits & JOINED) != 0, pieces, count)) {
        expect(regions.piece_count + regions.outside == count, "all pieces are somewhere");
        write_regions(history, &regions);
    }
    code_regions_free(&regions);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length < 2)
        return 0;
    unsigned char *const dump = malloc(length - 1); /* so that what is behind it is guarded */
    if (length > 2)
        memcpy(dump, bytes + 2, length - 2);
    const struct mapped_file file = {.data = dump, .size = length - 2};
    struct history history;
    struct placed *pieces;
    size_t count;
    failing = bytes[1];
    if (jd_history_read(&history, &file, NULL) == HISTORY_OK) {
        const uint64_t time =
            (bytes[0] & HALF_TIME) != 0
                ? history.reader.header.timestamp / 2 + history.last_timestamp / 2
                : UINT64_MAX;
        if (placed_at(&history, time, &pieces, &count))
            divide(&history, pieces, count, bytes[0]);
        jd_history_free(&history);
    }
    failing = 0;
    free(dump);
    return 0;
}
