/*
 * Any bytes as a dump, written as GSYM files: nothing may be touched that is not there, memory may run
 * out anywhere, and what is called a success is a file in which a reader finds each function whole: lines
 * from its first byte on, ascending, with files that there are; inlined calls within those that they
 * are in, apart from their neighbours; and nothing between the functions.
 *
 * The input is that of instant.h.
 */
#define _GNU_SOURCE
#include "instant.h"
#include "require.h"
#include "target.h"

#include "writers/gsym_writer.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *target_output;

enum { VERSION_2 = 1 };

/* A file that is being looked at. */
struct gsym_view {
    unsigned char *bytes;
    uint64_t size;
    bool swapped;
    unsigned string_size;
    unsigned address_size;
    uint64_t base;
    uint64_t count;
    /* Where the parts begin. */
    uint64_t addresses;
    uint64_t offsets;
    uint64_t files;
    uint64_t strings;
    uint64_t strings_end;
    uint64_t functions; /* what offsets count from */
};

static const char cut[] = "cut off";

static struct cursor at(const struct gsym_view *view, uint64_t offset)
{
    REQUIRE(offset <= view->size);
    return (struct cursor){.at = view->bytes + offset,
                           .end = view->bytes + view->size,
                           .base = view->bytes,
                           .swapped = view->swapped};
}

static uint64_t number(struct cursor *cursor, unsigned size)
{
    const uint64_t value = size == 1   ? cursor_u8(cursor, cut)
                           : size == 2 ? cursor_u16(cursor, cut)
                           : size == 4 ? cursor_u32(cursor, cut)
                                       : cursor_u64(cursor, cut);
    REQUIRE(cursor->error == NULL);
    return value;
}

static uint64_t uleb(struct cursor *cursor)
{
    const uint64_t value = jd_cursor_uleb128(cursor, cut);
    REQUIRE(cursor->error == NULL);
    return value;
}

static int64_t sleb(struct cursor *cursor)
{
    const int64_t value = jd_cursor_sleb128(cursor, cut);
    REQUIRE(cursor->error == NULL);
    return value;
}

/* Behind a NUL, not empty, and it ends in the table. */
static void check_string(const struct gsym_view *view, uint64_t offset)
{
    REQUIRE(offset > 0 && offset < view->strings_end - view->strings);
    const unsigned char *const string = view->bytes + view->strings + offset;
    REQUIRE(string[-1] == 0 && string[0] != 0);
    REQUIRE(memchr(string, 0, (size_t)(view->strings_end - view->strings - offset)) != NULL);
}

static void check_file(const struct gsym_view *view, uint64_t file)
{
    struct cursor cursor = at(view, view->files);
    REQUIRE(file > 0 && file < number(&cursor, 4));
    cursor = at(view, view->files + 4 + file * 2 * view->string_size);
    const uint64_t directory = number(&cursor, view->string_size);
    if (directory != 0)
        check_string(view, directory);
    check_string(view, number(&cursor, view->string_size));
}

static void check_lines(const struct gsym_view *view, struct cursor *cursor, uint64_t size)
{
    const int64_t lowest = sleb(cursor), range = sleb(cursor) - lowest + 1;
    int64_t line = (int64_t)uleb(cursor);
    uint64_t offset = 0, file = 1, rows = 0;
    REQUIRE(range >= 1 && range <= 251 && lowest <= 0);
    for (uint64_t opcode; (opcode = number(cursor, 1)) != 0;) {
        if (opcode == 1) {
            file = uleb(cursor);
            check_file(view, file);
            continue;
        }
        if (opcode == 3) {
            line += sleb(cursor);
            continue;
        }
        uint64_t by = (opcode - 4) / (uint64_t)range;
        if (opcode == 2)
            by = uleb(cursor);
        else
            line += lowest + (int64_t)((opcode - 4) % (uint64_t)range);
        offset += by;
        check_file(view, file);
        REQUIRE((by > 0) == (rows > 0));
        REQUIRE(offset < size && line >= 0 && line <= UINT32_MAX);
        rows++;
    }
    REQUIRE(rows > 0);
}

/* Of a call, by ascending offsets. */
struct range_list {
    uint64_t (*ranges)[2];
    uint64_t count;
};

static bool lies_in(const struct range_list *around, uint64_t begin, uint64_t end)
{
    for (uint64_t i = 0; i < around->count; i++)
        if (begin >= around->ranges[i][0] && end <= around->ranges[i][1])
            return true;
    return false;
}

/* A call and all in it. */
static void check_call(const struct gsym_view *view, struct cursor *cursor,
                       const struct range_list *around, bool is_root)
{
    struct range_list own = {.count = uleb(cursor)};
    REQUIRE(own.count > 0 && own.count < view->size);
    own.ranges = __real_calloc((size_t)own.count, sizeof(*own.ranges));
    uint64_t last = 0;
    for (uint64_t i = 0; i < own.count; i++) {
        const uint64_t begin = around->ranges[0][0] + uleb(cursor);
        const uint64_t end = begin + uleb(cursor);
        REQUIRE(end > begin && (i == 0 || begin > last) && lies_in(around, begin, end));
        own.ranges[i][0] = begin;
        own.ranges[i][1] = last = end;
    }
    const uint64_t has_children = number(cursor, 1);
    check_string(view, number(cursor, view->string_size));
    const uint64_t file = uleb(cursor);
    if (!is_root)
        check_file(view, file);
    REQUIRE(uleb(cursor) <= UINT32_MAX && has_children <= 1);
    if (has_children == 1) {
        REQUIRE(*cursor->at != 0);
        while (*cursor->at != 0)
            check_call(view, cursor, &own, false);
        number(cursor, 1);
    }
    free(own.ranges);
}

/* Returns where it ends. */
static uint64_t check_function(const struct gsym_view *view, uint64_t offset,
                               const struct placed *placed)
{
    struct cursor cursor = at(view, offset);
    const uint64_t size = number(&cursor, 4);
    uint64_t whole[1][2] = {{0, size}};
    REQUIRE(offset % 4 == 0 && size == placed->piece->code_size);
    check_string(view, number(&cursor, view->string_size));
    uint64_t last = 0;
    for (;;) {
        const uint64_t type = number(&cursor, 4), length = number(&cursor, 4);
        const uint64_t start = cursor_offset(&cursor);
        if (type == 0) {
            REQUIRE(length == 0);
            return start;
        }
        REQUIRE(type > last && type <= 2 && length > 0);
        REQUIRE(type == 1 || last == 1); /* no inlined calls without lines */
        if (type == 1)
            check_lines(view, &cursor, size);
        else
            check_call(view, &cursor, &(struct range_list){whole, 1}, true);
        REQUIRE(cursor_offset(&cursor) == start + length);
        last = type;
    }
}

static void find_parts(struct gsym_view *view, unsigned version)
{
    struct cursor cursor = at(view, 0);
    REQUIRE(number(&cursor, 4) == 0x4753594d && number(&cursor, 2) == version);
    view->address_size = (unsigned)number(&cursor, 1);
    REQUIRE(number(&cursor, 1) == (version == 1 ? DIGEST_SIZE : 0));
    view->base = number(&cursor, 8);
    view->count = number(&cursor, 4);
    if (version == 1) {
        view->strings = number(&cursor, 4);
        view->strings_end = view->strings + number(&cursor, 4);
        view->addresses = 48;
        view->offsets = (48 + view->count * view->address_size + 3) / 4 * 4;
        view->files = view->offsets + 4 * view->count;
    } else {
        uint64_t parts[7][2] = {{0, 0}};
        for (uint64_t type; (type = number(&cursor, 4)) != 0;) {
            REQUIRE(type <= 6);
            for (unsigned i = 0; i < 2; i++)
                parts[type][i] = number(&cursor, 8);
        }
        view->addresses = parts[1][0];
        view->offsets = parts[2][0];
        view->strings = parts[3][0];
        view->strings_end = parts[3][0] + parts[3][1];
        view->files = parts[4][0];
        view->functions = parts[5][0];
        REQUIRE(parts[5][0] + parts[5][1] == view->size && parts[6][1] == DIGEST_SIZE);
    }
    REQUIRE(view->strings_end <= view->size && view->bytes[view->strings] == 0 &&
            view->bytes[view->strings_end - 1] == 0);
}

static void check_file_of(int fd, const struct history *history, const struct placed *pieces,
                          size_t count, unsigned version)
{
    struct stat status;
    REQUIRE(fstat(fd, &status) == 0);
    struct gsym_view view = {.size = (uint64_t)status.st_size,
                             .swapped = history->reader.swapped,
                             .string_size = version == 1 ? 4 : 8};
    view.bytes = __real_malloc((size_t)view.size);
    REQUIRE(pread(fd, view.bytes, (size_t)view.size, 0) == (ssize_t)view.size);
    find_parts(&view, version);
    REQUIRE(view.count == count && view.base == pieces[0].address);
    struct cursor addresses = at(&view, view.addresses), offsets = at(&view, view.offsets);
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        REQUIRE(view.base + number(&addresses, view.address_size) == pieces[i].address);
        const uint64_t offset = view.functions + number(&offsets, view.string_size);
        REQUIRE(i == 0 || offset - end < 4);
        end = check_function(&view, offset, &pieces[i]);
    }
    REQUIRE(end == view.size);
    free(view.bytes);
}

static void write_pieces(const struct history *history, const struct placed *pieces, size_t count,
                         uint8_t bits)
{
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("gsym", 0);
    const struct gsym_options options = {.version = (bits & VERSION_2) != 0 ? 2 : 1};
    struct gsym_result result;
    REQUIRE(ftruncate(fd, 0) == 0);
    const enum gsym_error error = gsym_write(fd, history, pieces, count, &options, &result);
    REQUIRE(gsym_strerror(error) != NULL);
    REQUIRE((error == GSYM_EMPTY) == (count == 0));
    REQUIRE(error != GSYM_OUT_OF_ORDER && error != GSYM_NOT_WRITTEN && error != GSYM_TOO_LARGE);
    if (error == GSYM_OK)
        check_file_of(fd, history, pieces, count, options.version);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    with_instant(bytes, size, write_pieces);
    return 0;
}
