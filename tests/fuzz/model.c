#define _GNU_SOURCE
#include "model.h"

#include "format/elf_mach.h"
#include "faults.h"
#include "format/records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_sticky(int error)
{
    return error <= JITDUMP_ERROR_DISK_FULL && error >= JITDUMP_ERROR_SIZE_LIMIT;
}

/* What an item's functions name, of the sources that there were. */
struct known_sources {
    const struct model *model;
    uint64_t count;
};

static enum known has_source_file(const void *context, const char *path)
{
    const struct known_sources *sources = context;
    enum known known = KNOWN_NOT;
    for (uint64_t i = 0; i < sources->count && known != KNOWN; i++)
        if (sources->model->sources[i].known != KNOWN_NOT &&
            strcmp(sources->model->sources[i].path, path) == 0)
            known = sources->model->sources[i].known;
    return known;
}

static void start_file(struct model *model)
{
    snprintf(model->path, sizeof(model->path), "%s", jitdump_path(model->dump));
    char expected[PATH_MAX];
    snprintf(expected, sizeof(expected), "%s/jit-%u.dump", model->directory, faults_pid());
    if (strcmp(model->path, expected) != 0)
        wrong("path of the dump", 0, 1);
    model->has_file = true;
    model->facts.pid = faults_pid();
}

void model_open(struct model *model, struct jitdump *dump, const struct jitdump_options *options,
                const char *directory)
{
    memset(model, 0, offsetof(struct model, items));
    model->dump = dump;
    model->options = *options;
    model->directory = directory;
    model->count = model->flushed = model->source_count = model->tier_count = 0;
    model->facts = (struct file_facts){
        .tid = (uint32_t)syscall(SYS_gettid),
        .elf_mach = options->elf_mach != 0 ? options->elf_mach : BUILD_ELF_MACH,
        .dialect = options->dialect,
        .tier_records = (options->flags & JITDUMP_TIER_RECORDS) != 0,
        .outermost = (options->flags & JITDUMP_OUTERMOST_LINES) != 0,
        .track = options->track != NULL ? options->track : "",
        .source_file_prefix = model->source_file_prefix,
        .has_source_file = (options->flags & JITDUMP_SOURCE_FILES) != 0 ? has_source_file : NULL};
    snprintf(model->source_file_prefix, sizeof(model->source_file_prefix), "%.4000s/jit-",
             directory);
    start_file(model);
}

static void add(struct model *model, const struct item *item)
{
    if (model->count == ITEMS_MAX)
        abort(); /* more calls than the target makes */
    model->items[model->count++] = *item;
}

static void add_source(struct model *model, const struct source_facts *source)
{
    if (model->options.dialect == JITDUMP_DIALECT_PERF || source->known == KNOWN_NOT)
        return;
    add(model, &(struct item){.kind = ITEM_SOURCE,
                              .path = source->path,
                              .bytes = source->text,
                              .size = source->size,
                              .optional = source->known == KNOWN_PERHAPS});
}

/* The child's file begins with the sources. */
static void follow_start(struct model *model)
{
    if (model->has_file || jitdump_path(model->dump) == NULL)
        return;
    start_file(model);
    for (uint32_t i = 0; i < model->source_count; i++)
        add_source(model, &model->sources[i]);
}

/* Without another thread, what write-through mode has accepted is written. */
static void follow_mode(struct model *model)
{
    if (model->sticky == 0 && model->options.flush_mode == JITDUMP_FLUSH_WRITE_THROUGH)
        model->flushed = model->count;
}

/* Of an error that could be the call's own, a child that had no file can only tell by another
 * call whether it comes of its start, and so is for good. */
static bool is_for_good(const struct model *model, int error, bool had_file)
{
    if (error == 0 || had_file)
        return false;
    faults_enter();
    const int again = jitdump_flush(model->dump);
    faults_leave();
    return again == error;
}

static void follow_result(struct model *model, int result, bool had_file)
{
    /* What was accepted before the size limit may meet another error when it is written. */
    if (model->sticky != 0 && !(model->sticky == JITDUMP_ERROR_SIZE_LIMIT && is_sticky(result)))
        expect("error after a sticky one", (uint64_t)-result, (uint64_t)-model->sticky);
    if (is_sticky(result) || result == JITDUMP_ERROR_PERF_MAP ||
        is_for_good(model, result, had_file))
        model->sticky = result;
    follow_mode(model);
}

void model_appended(struct model *model, const struct item *item, int result)
{
    const bool had_file = model->has_file;
    follow_start(model);
    if (result == 0 && item != NULL) {
        struct item copy = *item;
        copy.source_count = model->source_count;
        add(model, &copy);
    }
    follow_result(model, result, had_file);
}

/* Since the path was new just now, who failed with it before had not got so far. */
static void forget_uncertain(struct model *model, const char *path)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->count; i++)
        if (!model->items[i].optional || strcmp(model->items[i].path, path) != 0)
            model->items[count++] = model->items[i];
    model->count = count;
    for (uint32_t i = 0; i < model->source_count; i++)
        if (model->sources[i].known == KNOWN_PERHAPS && strcmp(model->sources[i].path, path) == 0)
            model->sources[i].known = KNOWN_NOT;
}

void model_embedded(struct model *model, const char *path, const void *text, uint64_t size,
                    int result)
{
    const bool had_file = model->has_file;
    follow_start(model);
    const bool was_sticky = model->sticky != 0;
    if (result == 0)
        forget_uncertain(model, path);
    if (result == 0 || (is_sticky(result) && !was_sticky)) {
        if (model->source_count == SOURCES_MAX)
            abort();
        struct source_facts *source = &model->sources[model->source_count++];
        *source = (struct source_facts){path, text, size, result == 0 ? KNOWN : KNOWN_PERHAPS};
        if (result == 0)
            add_source(model, source);
    }
    follow_result(model, result, had_file);
}

void model_batch(struct model *model, int result)
{
    const bool was_sticky = model->sticky != 0;
    model_appended(model, NULL, result);
    if (model->sticky != 0 && !was_sticky)
        model->batch_failed = true;
}

void model_flushed(struct model *model, int result)
{
    if (result == 0 || (result == JITDUMP_ERROR_PERF_MAP && model->sticky == 0))
        model->flushed = model->count;
    if (result == 0 && model->sticky != 0 && model->sticky != JITDUMP_ERROR_SIZE_LIMIT)
        wrong("flush after a sticky error", 0, (uint64_t)-model->sticky);
    if (is_sticky(result))
        model->sticky = result;
}

void model_forked(struct model *model)
{
    model_check_open(model);
    model->has_file = false;
    model->sticky = 0;
    model->batch_failed = false;
    model->count = model->flushed = 0;
}

/* The file */

static unsigned char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        wrong("the dump is not there: errno", (uint64_t)errno, 0);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size + 1);
    if (fread(bytes, 1, *size, file) != *size)
        wrong("bytes read", 0, *size);
    fclose(file);
    return bytes;
}

static void check_header(struct reader *reader, const struct model *model, uint64_t *timestamp)
{
    struct jitdump_file_header header;
    memcpy(&header, read_bytes(reader, sizeof(header)), sizeof(header));
    expect("magic", header.magic, JITDUMP_MAGIC);
    expect("version", header.version, 1);
    expect("header's size", header.total_size, sizeof(header));
    expect("pad1", header.pad1, 0);
    expect("header's pid", header.pid, model->facts.pid);
    expect("elf_mach", header.elf_mach, model->facts.elf_mach);
    expect("flags", header.flags, model->options.clock == JITDUMP_CLOCK_TSC);
    *timestamp = header.timestamp;
}

static bool precedes_load(uint32_t id)
{
    return id == JIT_CODE_DEBUG_INFO || id == JIT_CODE_UNWINDING_INFO ||
           id == SAMPLY_JIT_CODE_DEBUG_INFO2 || id == SAMPLY_JIT_CODE_DEBUG_INFO_2026;
}

/* Whether the file goes on with a whole group, which is taken. `id` receives that of its last record. */
static bool take_group(struct reader *reader, uint32_t *id)
{
    struct jit_record_header header;
    do {
        if (reader->left < sizeof(header))
            return false;
        memcpy(&header, reader->at, sizeof(header));
        if (header.total_size < sizeof(header) || header.total_size > reader->left)
            return false;
        reader->at += header.total_size;
        reader->left -= header.total_size;
    } while (precedes_load(header.id));
    *id = header.id;
    return true;
}

/* The first functions of a batch that has failed may have been written. */
static bool are_of_failed_batch(struct reader reader, const struct model *model)
{
    uint32_t id = JIT_CODE_LOAD;
    while (model->batch_failed && reader.left != 0 && id == JIT_CODE_LOAD)
        if (!take_group(&reader, &id))
            return false;
    return reader.left == 0 && id == JIT_CODE_LOAD;
}

static void check_move(struct reader payload, const struct model *model, const struct item *item)
{
    struct jit_code_move move;
    const size_t size = sizeof(move) - sizeof(move.header);
    expect("size of a move", payload.left, size);
    memcpy((char *)&move + sizeof(move.header), payload.at, size);
    expect("move's pid", move.pid, model->facts.pid);
    expect("move's tid", move.tid, model->facts.tid);
    expect("move's vma", move.vma, item->new_code_addr);
    expect("old_code_addr", move.old_code_addr, item->old_code_addr);
    expect("new_code_addr", move.new_code_addr, item->new_code_addr);
    expect("move's code_size", move.code_size, item->code_size);
    expect("move's code_index", move.code_index, item->code_index);
}

static bool is_source(struct reader payload, const struct item *item)
{
    uint32_t sizes[2];
    if (payload.left < sizeof(sizes) + strlen(item->path) + 1 + item->size)
        return false;
    memcpy(sizes, payload.at, sizeof(sizes));
    const char *path = (const char *)payload.at + sizeof(sizes);
    return sizes[0] == strlen(item->path) + 1 && sizes[1] == item->size &&
           memcmp(path, item->path, sizes[0]) == 0 &&
           (item->size == 0 || memcmp(path + sizes[0], item->bytes, item->size) == 0) &&
           payload.left % 4 == 0 && payload.left - sizeof(sizes) - sizes[0] - sizes[1] < 4;
}

/* False: it is an optional one, and not there. */
static bool check_item(struct reader *reader, uint32_t id, const struct model *model,
                       const struct item *item, uint64_t *timestamp)
{
    static const uint32_t ids[] = {JIT_CODE_LOAD, JIT_CODE_MOVE, 0, SAMPLY_EMBEDDED_SOURCE_FILE};
    const uint32_t expected = item->kind == ITEM_RAW ? item->id : ids[item->kind];
    if (id != expected && item->optional)
        return false;
    expect("id of the next record", id, expected);
    if (item->kind == ITEM_LOAD) {
        const struct known_sources known = {model, item->source_count};
        struct file_facts facts = model->facts;
        facts.context = &known;
        check_group(reader, &facts, &item->tier, item->code, item->code_index, true, timestamp);
        return true;
    }
    struct reader rest = *reader, payload;
    read_record(&rest, &payload, timestamp);
    if (item->kind == ITEM_MOVE) {
        check_move(payload, model, item);
    } else if (item->kind == ITEM_RAW) {
        expect("size of a raw record", payload.left, item->size);
        if (memcmp(payload.at, item->bytes, item->size) != 0)
            wrong("a raw record's payload", 0, 1);
    } else if (!is_source(payload, item)) {
        if (item->optional)
            return false;
        wrong("a source", 0, 1);
    }
    *reader = rest;
    return true;
}

static bool is_close(struct reader reader, uint64_t timestamp)
{
    struct reader payload;
    return reader.left == sizeof(struct jit_code_close) &&
           read_record(&reader, &payload, &timestamp) == JIT_CODE_CLOSE;
}

/* Returns how many items are there; the rest of the file is `reader`. */
static uint32_t check_items(struct reader *reader, const struct model *model, uint64_t *timestamp)
{
    uint32_t present = 0, id;
    for (; present < model->count; present++) {
        if (reader->left == 0 || is_close(*reader, *timestamp)) {
            if (model->items[present].optional)
                continue;
            break;
        }
        struct reader ahead = *reader;
        if (!take_group(&ahead, &id)) {
            if (!faults_happened(FAULT_FTRUNCATE))
                wrong("a group cut short", reader->left, 0);
            break;
        }
        check_item(reader, id, model, &model->items[present], timestamp);
    }
    return present;
}

/* All that was accepted is there, and the file is `closed`; or what was flushed at least. */
static void check_file(const struct model *model, bool whole, bool closed)
{
    size_t size;
    unsigned char *bytes = read_file(model->path, &size);
    struct reader reader = {bytes, size};
    uint64_t timestamp;
    check_header(&reader, model, &timestamp);
    const uint32_t present = check_items(&reader, model, &timestamp);
    const uint32_t promised = whole ? model->count : model->flushed;
    if (present < promised)
        wrong("items in the file", present, promised);
    if (closed)
        expect("a CLOSE at the end", is_close(reader, timestamp), true);
    else if (reader.left != 0 && !is_close(reader, timestamp) &&
             !are_of_failed_batch(reader, model) && !faults_happened(FAULT_FTRUNCATE))
        wrong("bytes that no call has appended", reader.left, 0);
    if (model->options.size_limit != 0 && size > model->options.size_limit)
        wrong("size of the file", size, model->options.size_limit);
    free(bytes);
}

void model_check_open(const struct model *model)
{
    if (model->has_file)
        check_file(model, false, false);
}

/* A header and nothing else, if it could be done. */
static bool is_emptied(const struct model *model, int result)
{
    size_t size;
    unsigned char *bytes = read_file(model->path, &size);
    struct reader reader = {bytes, size};
    uint64_t timestamp;
    check_header(&reader, model, &timestamp);
    if (reader.left != 0 && (result == 0 || !faults_happened(FAULT_FTRUNCATE)))
        wrong("bytes left in an emptied dump", reader.left, 0);
    free(bytes);
    return reader.left == 0;
}

void model_check_closed(const struct model *model, int result)
{
    if (!model->has_file)
        return;
    if ((model->options.flags & JITDUMP_UNLINK_AT_CLOSE) != 0) {
        if (access(model->path, F_OK) == 0)
            wrong("the dump is still there", 1, 0);
        return;
    }
    if ((model->options.flags & JITDUMP_EMPTY_AT_CLOSE) != 0 && is_emptied(model, result))
        return;
    const bool whole = result == 0 || result == JITDUMP_ERROR_SIZE_LIMIT ||
                       (result == JITDUMP_ERROR_PERF_MAP && model->sticky == 0);
    check_file(model, whole, whole);
}
