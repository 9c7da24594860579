#include "check/dump_check.h"
#include "reader/decode.h"
#include "reader/sort.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* With about this many functions perf inject takes seconds. */
#define MANY_FUNCTIONS 10000

static int shown_size(struct span name)
{
    return name.size < 80 ? (int)name.size : 80;
}

static const char *shown(struct span name)
{
    return (const char *)name.data;
}

/* Header and file name */

static void check_header(struct findings *findings, const struct dump_reader *reader,
                         const char *path)
{
    const struct jitdump_file_header *const header = &reader->header;
    if ((header->flags & ~JITDUMP_FLAGS_ARCH_TIMESTAMP) != 0)
        jd_finding_add(findings, FINDING_HEADER_FLAGS, 32, "0x%" PRIx64, header->flags);
    if (header->total_size != sizeof(*header))
        jd_finding_add(findings, FINDING_HEADER_SIZE, 8, "%u", header->total_size);
    if (header->elf_mach == 0)
        jd_finding_add(findings, FINDING_HEADER_MACHINE, 12, "%s", "");
    if (reader->swapped)
        jd_finding_add(findings, FINDING_BYTE_ORDER, 0, "%s", "");
    char wanted[32];
    snprintf(wanted, sizeof(wanted), "jit-%u.dump", header->pid);
    const char *const slash = strrchr(path, '/');
    if (strcmp(slash != NULL ? slash + 1 : path, wanted) != 0)
        jd_finding_add(findings, FINDING_FILE_NAME, FINDING_NOWHERE, "it would be %s", wanted);
}

/* Record by record */

/* Records that wait for their load. */
struct waiting {
    uint64_t offset; /* of the first; 0: there is none */
    bool close_seen;
    uint64_t last_timestamp;
    uint64_t code_size;
};

static bool precedes_load(uint32_t id)
{
    return id == JIT_CODE_DEBUG_INFO || id == JIT_CODE_UNWINDING_INFO ||
           id == SAMPLY_JIT_CODE_DEBUG_INFO2 || id == SAMPLY_JIT_TIER;
}

static bool is_known(uint32_t id)
{
    return id <= JIT_CODE_LAST_SPECIFIED || id == SAMPLY_JIT_CODE_DEBUG_INFO2 ||
           id == SAMPLY_JIT_TIER || id == SAMPLY_EMBEDDED_SOURCE_FILE;
}

/* Well-formed, and without what a terminal would take for a command. */
static void check_name(struct findings *findings, uint64_t offset, struct span name)
{
    bool control = false, valid = true;
    unsigned left = 0;
    for (uint64_t i = 0; i < name.size; i++) {
        const unsigned char c = name.data[i];
        control = control || c < ' ' || c == 0x7f;
        if (left > 0) {
            valid = valid && (c & 0xc0) == 0x80;
            left--;
        } else if (c >= 0x80) {
            valid = valid && c >= 0xc2 && c <= 0xf4;
            left = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
        }
    }
    if (control)
        jd_finding_add(findings, FINDING_NAME_CONTROL, offset, "%.*s", shown_size(name),
                       shown(name));
    if (!valid || left != 0)
        jd_finding_add(findings, FINDING_NAME_UTF8, offset, "%.*s", shown_size(name), shown(name));
    static const char *const twice[] = {"Interpreter: ", "Baseline: ", "Ion: ", "Wasm: ", "py::"};
    for (unsigned i = 0; i < sizeof(twice) / sizeof(twice[0]); i++)
        if (name.size >= strlen(twice[i]) && memcmp(name.data, twice[i], strlen(twice[i])) == 0)
            jd_finding_add(findings, FINDING_NAME_TWICE_SHOWN, offset, "%.*s", shown_size(name),
                           shown(name));
}

static void check_load(struct findings *findings, const struct dump_reader *reader,
                       const struct dump_record *record, struct waiting *waiting)
{
    struct load_record load;
    struct problem problem;
    waiting->offset = 0;
    if (!jd_decode_load(reader, record, &load, &problem)) {
        jd_finding_add(findings, FINDING_UNREADABLE_RECORD, problem.offset, "%s", problem.reason);
        return;
    }
    if (load.name.size == 0)
        jd_finding_add(findings, FINDING_NAME_EMPTY, record->offset, "at 0x%" PRIx64,
                       load.code_addr);
    else
        check_name(findings, record->offset, load.name);
    if (load.padding != 0)
        jd_finding_add(findings, FINDING_PADDING, record->offset, "%.*s: %" PRIu64 " bytes",
                       shown_size(load.name), shown(load.name), load.padding);
    if (load.code_size > INT_MAX)
        jd_finding_add(findings, FINDING_CODE_SIZE, record->offset, "%.*s",
                       shown_size(load.name), shown(load.name));
    if (waiting->code_size <= UINT32_MAX && load.code_size > UINT32_MAX - waiting->code_size)
        jd_finding_add(findings, FINDING_MUCH_CODE, record->offset, "%s", "");
    waiting->code_size += load.code_size;
}

/* In the order in which they lie there: a header in front begins with its version, 1. Frames
 * begin with a length, whose first byte would be 1 then. */
static void check_unwinding(struct findings *findings, const struct dump_reader *reader,
                            const struct dump_record *record)
{
    struct unwinding_record unwinding;
    struct problem problem;
    if (!jd_decode_unwinding(reader, record, &unwinding, &problem)) {
        jd_finding_add(findings, FINDING_UNREADABLE_RECORD, problem.offset, "%s", problem.reason);
        return;
    }
    /* V8 writes an empty header where it has nothing to say. */
    if (unwinding.mapped_size == 0 && unwinding.eh_frame.size != 0)
        jd_finding_add(findings, FINDING_UNWINDING_UNMAPPED, record->offset, "%s", "");
    struct cursor cursor = {.at = unwinding.eh_frame.data,
                            .end = unwinding.eh_frame.data + unwinding.eh_frame.size,
                            .base = reader->file.data,
                            .swapped = reader->swapped};
    if (unwinding.eh_frame.size < 4)
        return;
    const bool begins_with_version = unwinding.eh_frame.data[0] == 1;
    const uint32_t length = cursor_u32(&cursor, "");
    if (begins_with_version && length > unwinding.eh_frame.size)
        jd_finding_add(findings, FINDING_UNWINDING_ORDER, record->offset, "%s", "");
}

/* Of these kinds nothing else is checked. */
static void check_readable(struct findings *findings, const struct dump_reader *reader,
                           const struct dump_record *record)
{
    struct problem problem;
    bool readable = true;
    if (record->id == JIT_CODE_MOVE) {
        struct move_record move;
        readable = jd_decode_move(reader, record, &move, &problem);
    } else if (record->id == SAMPLY_EMBEDDED_SOURCE_FILE) {
        struct source_record source;
        readable = jd_decode_source(reader, record, &source, &problem);
    } else if (record->id == SAMPLY_JIT_TIER && jd_is_tier(reader, record)) {
        struct tier_record tier;
        readable = jd_decode_tier(reader, record, &tier, &problem);
        if (readable)
            jd_finding_add(findings, FINDING_TIER_HIDES_LINES, record->offset, "%s", "");
    }
    if (!readable)
        jd_finding_add(findings, FINDING_UNREADABLE_RECORD, problem.offset, "%s", problem.reason);
}

static void check_record(struct findings *findings, const struct dump_reader *reader,
                         const struct dump_record *record, struct waiting *waiting)
{
    if (waiting->close_seen && findings->of[FINDING_AFTER_CLOSE].count == 0)
        jd_finding_add(findings, FINDING_AFTER_CLOSE, record->offset, "%s", "");
    if (record->timestamp < waiting->last_timestamp)
        jd_finding_add(findings, FINDING_TIME_BACKWARDS, record->offset, "by %" PRIu64 " ns",
                       waiting->last_timestamp - record->timestamp);
    waiting->last_timestamp = record->timestamp;
    if (!is_known(record->id))
        jd_finding_add(findings, FINDING_UNKNOWN_ID, record->offset, "id %u", record->id);
    if (record->payload.size == 0) {
        if (record->id != JIT_CODE_CLOSE)
            jd_finding_add(findings, FINDING_EMPTY_RECORD, record->offset, "id %u", record->id);
        waiting->close_seen = waiting->close_seen || record->id == JIT_CODE_CLOSE;
    }
    if (record->id == JIT_CODE_LOAD) {
        check_load(findings, reader, record, waiting);
        return;
    }
    check_readable(findings, reader, record);
    if (precedes_load(record->id)) {
        if (waiting->offset == 0)
            waiting->offset = record->offset;
        if (record->id == JIT_CODE_UNWINDING_INFO)
            check_unwinding(findings, reader, record);
    } else if (waiting->offset != 0) {
        jd_finding_add(findings, FINDING_ORPHAN, waiting->offset, "%s", "");
        waiting->offset = 0;
    }
}

static void check_records(struct findings *findings, const struct mapped_file *file)
{
    struct dump_reader reader;
    struct dump_record record;
    struct waiting waiting = {0};
    uint64_t passed = 0;
    if (!jd_dump_reader_init(&reader, (struct span){file->data, file->size}))
        return;
    while (jd_dump_reader_next(&reader, &record)) {
        check_record(findings, &reader, &record, &waiting);
        jd_mapped_file_pass(file, &passed, record.offset);
    }
    if (reader.end == DUMP_CUT_OFF)
        jd_finding_add(findings, FINDING_CUT_OFF, reader.offset, "%s", "");
    else if (reader.end == DUMP_BROKEN)
        jd_finding_add(findings, FINDING_BROKEN, reader.offset, "%s", reader.reason);
    else if (waiting.offset != 0)
        jd_finding_add(findings, FINDING_ORPHAN, waiting.offset, "%s", "");
}

/* Functions and their moves */

struct index_of {
    uint64_t code_index;
    uint32_t piece;
};

static int by_index(const void *left, const void *right)
{
    const struct index_of *const a = left, *const b = right;
    if (a->code_index != b->code_index)
        return a->code_index < b->code_index ? -1 : 1;
    return a->piece < b->piece ? -1 : 1;
}

/* The last piece of this code_index that was loaded before `offset`; NULL: there is none. */
static const struct piece *find_index(const struct history *history, const struct index_of *indices,
                                      uint64_t code_index, uint64_t offset)
{
    uint32_t low = 0, high = history->piece_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct piece *const piece = &history->pieces[indices[middle].piece];
        if (indices[middle].code_index < code_index ||
            (indices[middle].code_index == code_index && piece->load < offset))
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && indices[low - 1].code_index == code_index
               ? &history->pieces[indices[low - 1].piece]
               : NULL;
}

static void check_move(struct findings *findings, const struct history *history,
                       const struct index_of *indices, const struct dump_record *record,
                       const struct move_record *move)
{
    jd_finding_add(findings, FINDING_MOVE_CRASHES, record->offset, "%s", "");
    const struct piece *const piece =
        find_index(history, indices, move->code_index, record->offset);
    if (piece == NULL) {
        jd_finding_add(findings, FINDING_MOVE_UNKNOWN, record->offset, "code_index %" PRIu64,
                       move->code_index);
        return;
    }
    if (piece->unwinding != 0)
        jd_finding_add(findings, FINDING_UNWINDING_MOVED, record->offset, "%.*s",
                       shown_size(piece->name), shown(piece->name));
    uint32_t life = piece->first_life;
    while (life != HISTORY_NONE && history->lives[life].address != move->old_code_addr)
        life = history->lives[life].next;
    if (life == HISTORY_NONE && piece->code_size != 0)
        jd_finding_add(findings, FINDING_MOVE_FROM, record->offset, "%.*s, from 0x%" PRIx64,
                       shown_size(piece->name), shown(piece->name), move->old_code_addr);
}

static bool check_moves(struct findings *findings, const struct history *history,
                        const struct mapped_file *file)
{
    struct index_of *const indices = malloc((history->piece_count + (size_t)1) * sizeof(*indices));
    if (indices == NULL)
        return false;
    for (uint32_t i = 0; i < history->piece_count; i++)
        indices[i] = (struct index_of){history->pieces[i].code_index, i};
    sort(indices, history->piece_count, sizeof(*indices), by_index);
    for (uint32_t i = 1; i < history->piece_count; i++)
        if (indices[i].code_index == indices[i - 1].code_index)
            jd_finding_add(findings, FINDING_INDEX_TWICE, history->pieces[indices[i].piece].load,
                           "code_index %" PRIu64, indices[i].code_index);

    struct dump_reader reader;
    struct dump_record record;
    struct move_record move;
    struct problem problem;
    const bool readable = history->move_count != 0 &&
                          jd_dump_reader_init(&reader, history->reader.file);
    uint64_t passed = 0;
    while (readable && jd_dump_reader_next(&reader, &record)) {
        if (record.id == JIT_CODE_MOVE && jd_decode_move(&reader, &record, &move, &problem))
            check_move(findings, history, indices, &record, &move);
        jd_mapped_file_pass(file, &passed, record.offset);
    }
    free(indices);
    return true;
}

bool jd_check_dump(struct findings *findings, const struct history *history,
                   const struct mapped_file *file, const char *path)
{
    uint64_t passed = 0;
    jd_mapped_file_release(file);
    check_header(findings, &history->reader, path);
    check_records(findings, file);
    jd_mapped_file_release(file);
    for (uint32_t i = 0; i < history->piece_count; i++) {
        jd_check_lines(findings, history, &history->pieces[i]);
        jd_mapped_file_pass(file, &passed, history->pieces[i].load);
    }
    if (!jd_check_inlining(findings, history, file))
        return false;
    jd_mapped_file_release(file);
    if (history->piece_count >= MANY_FUNCTIONS)
        jd_finding_add(findings, FINDING_MANY_FUNCTIONS, FINDING_NOWHERE, "%u of them",
                       history->piece_count);
    return check_moves(findings, history, file) && jd_check_places(findings, history, file);
}
