#include "platform/c_library.h"

#include "object_code.h"

#include "call_track.h"
#include "memory.h"
#include "object/text_frames.h"

#include <stdlib.h>
#include <string.h>

static void read_dwarf(struct object_code *code)
{
    struct dwarf *const dwarf = &code->dwarf;
    const struct {
        const char *name;
        struct span *to;
    } sections[] = {{".debug_info", &dwarf->info},         {".debug_abbrev", &dwarf->abbrev},
                    {".debug_str", &dwarf->str},           {".debug_line", &dwarf->line},
                    {".debug_line_str", &dwarf->line_str}, {".debug_ranges", &dwarf->ranges},
                    {".debug_rnglists", &dwarf->rnglists}, {".debug_addr", &dwarf->addr},
                    {".debug_str_offsets", &dwarf->str_offsets}};
    _Static_assert(sizeof(sections) / sizeof(*sections) == sizeof(code->copies) / sizeof(*code->copies),
                   "a copy for each");
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
        *sections[i].to = jd_elf_relocated(&code->object, sections[i].name, &code->copies[i]);
    jd_dwarf_calls_read(&code->calls, &code->lines, dwarf);
}

struct object_code *jd_object_code_read(void *bytes, uint64_t size, enum loaded_by by,
                                        section_placer *place, const void *context)
{
    static atomic_uint said;
    struct object_code *const code = calloc(1, sizeof(*code));
    if (code == NULL) {
        free(bytes);
        return NULL;
    }
    code->by = by;
    code->bytes = bytes;
    const char *const error = jd_elf_object_read(&code->object, (struct span){bytes, size});
    if (error != NULL)
        jd_collector_report(&said, "an object is left out: %s", error);
    if (error == NULL && place != NULL)
        place(&code->object, context);
    if (error != NULL || !jd_elf_functions(&code->object, &code->functions, &code->function_count) ||
        code->function_count == 0 ||
        (code->loaded = calloc(code->function_count, sizeof(*code->loaded))) == NULL) {
        jd_object_code_free(code);
        return NULL;
    }
    read_dwarf(code);
    return code;
}

void jd_object_code_free(struct object_code *code)
{
    jd_dwarf_calls_free(&code->calls);
    jd_dwarf_lines_free(&code->lines);
    for (size_t i = 0; i < sizeof(code->copies) / sizeof(*code->copies); i++)
        free(code->copies[i]);
    jd_elf_object_free(&code->object);
    free(code->functions);
    free(code->loaded);
    free(code->bytes);
    free(code);
}

/* What place_at() looks at. */
struct places {
    const struct object_code *code;
    uint64_t address;
};

static const char *file_name(const struct object_code *code, uint32_t file)
{
    const struct dwarf_files *const files = &code->lines.files;
    return file < files->count && files->items[file][0] != '\0' ? files->items[file] : NULL;
}

static struct track_place place_at(const void *context, uint32_t call, uint32_t offset)
{
    const struct places *const places = context;
    const struct dwarf_row *const row =
        jd_dwarf_lines_at(&places->code->lines, places->address + offset);
    (void)call;
    if (row == NULL || row->line == 0)
        return (struct track_place){0};
    return (struct track_place){
        .file = file_name(places->code, row->file), .line = row->line, .column = row->column};
}

/* The rows of the function's code, from the one on that covers its start. */
static size_t first_row(const struct dwarf_lines *lines, uint64_t address)
{
    const struct dwarf_row *const row = jd_dwarf_lines_at(lines, address);
    if (row != NULL)
        return (size_t)(row - lines->rows);
    size_t at = 0;
    size_t high = lines->row_count;
    while (at < high) {
        const size_t middle = at + (high - at) / 2;
        if (lines->rows[middle].address < address)
            at = middle + 1;
        else
            high = middle;
    }
    return at;
}

/* The function of the debug information that has the code; DWARF_NO_CALL: none. */
static uint32_t find_root(const struct dwarf_calls *calls, uint64_t address)
{
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct dwarf_call *const call = &calls->items[i];
        for (size_t j = 0; call->depth == 0 && j < call->range_count; j++) {
            const struct dwarf_range *const range = &calls->ranges.items[call->first_range + j];
            if (address >= range->start && address < range->end)
                return i;
        }
    }
    return DWARF_NO_CALL;
}

struct description {
    struct track_call *calls;
    size_t call_count;
    struct track_range *ranges;
    size_t range_count;
    uint32_t *bounds;
    size_t bound_count;
};

static void free_description(struct description *description)
{
    free(description->calls);
    free(description->ranges);
    free(description->bounds);
}

/* The inlined call, and which of its ranges are in the function. */
static void add_call(struct description *description, const struct object_code *code,
                     const struct elf_function *function, const struct dwarf_call *call, uint32_t parent)
{
    const uint32_t index = (uint32_t)description->call_count;
    description->calls[description->call_count++] =
        (struct track_call){.name = call->name[0] != '\0' ? call->name : "(unnamed)",
                            .file = file_name(code, call->file),
                            .start_line = call->line,
                            .parent = parent,
                            .site_line = call->call_line,
                            .site_column = call->call_column};
    const uint64_t end = function->address + function->size;
    for (size_t i = 0; i < call->range_count; i++) {
        const struct dwarf_range *const range = &code->calls.ranges.items[call->first_range + i];
        const uint64_t from = range->start > function->address ? range->start : function->address;
        const uint64_t to = range->end < end ? range->end : end;
        if (from < to)
            description->ranges[description->range_count++] =
                (struct track_range){index, (uint32_t)(from - function->address),
                                     (uint32_t)(to - function->address)};
    }
}

/* All calls that are inlined in the function `root`, which stand behind it. */
static bool add_calls(struct description *description, const struct object_code *code,
                      const struct elf_function *function, uint32_t root)
{
    const struct dwarf_calls *const calls = &code->calls;
    uint32_t end = root;
    size_t ranges = 0;
    do
        ranges += calls->items[end++].range_count;
    while (end < calls->count && calls->items[end].depth != 0);
    const size_t count = end - root;
    struct track_call *const more = realloc(description->calls, count * sizeof(*more));
    if (more != NULL)
        description->calls = more;
    description->ranges = malloc(ranges * sizeof(*description->ranges));
    if (more == NULL || description->ranges == NULL)
        return false;
    const struct dwarf_call *const outermost = &calls->items[root];
    if (file_name(code, outermost->file) != NULL)
        description->calls[0].file = file_name(code, outermost->file);
    description->calls[0].start_line = outermost->line;
    for (uint32_t i = root + 1; i < end; i++)
        add_call(description, code, function, &calls->items[i], calls->items[i].parent - root);
    return true;
}

static bool describe(struct description *description, const struct object_code *code,
                     const struct elf_function *function)
{
    const struct dwarf_lines *const lines = &code->lines;
    const size_t first = first_row(lines, function->address);
    size_t last = first;
    while (last < lines->row_count &&
           lines->rows[last].address < function->address + function->size)
        last++;
    if (last == first)
        return false;
    description->calls = calloc(1, sizeof(*description->calls));
    if (description->calls == NULL)
        return false;
    description->calls[0] = (struct track_call){.name = function->name,
                                                .file = file_name(code, lines->rows[first].file),
                                                .parent = JITDUMP_NONE};
    description->call_count = 1;
    const uint32_t root = find_root(&code->calls, function->address);
    if (root != DWARF_NO_CALL && !add_calls(description, code, function, root))
        return false;
    description->bounds = malloc((last - first + 2 * description->range_count + 1) *
                                 sizeof(*description->bounds));
    if (description->bounds == NULL)
        return false;
    for (size_t i = first; i < last; i++)
        if (lines->rows[i].address > function->address)
            description->bounds[description->bound_count++] =
                (uint32_t)(lines->rows[i].address - function->address);
    return true;
}

static bool make_track(struct call_track *track, const struct object_code *code,
                       const struct elf_function *function)
{
    struct description description = {0};
    const struct places places = {code, function->address};
    *track = (struct call_track){0};
    bool made = describe(&description, code, function);
    if (made) {
        const struct track_source source = {.calls = description.calls,
                                            .call_count = description.call_count,
                                            .ranges = description.ranges,
                                            .range_count = description.range_count,
                                            .code_size = (uint32_t)function->size,
                                            .place_at = place_at,
                                            .context = &places};
        made = jd_call_track_make(track, &source, description.bounds, description.bound_count);
    }
    free_description(&description);
    return made;
}

/* Frames, and where they lie or are to be read as lying. */
struct frames {
    void *copy; /* NULL: there are none */
    uint64_t size;
    uint64_t address;
};

/* In memory, relocated, if the object says where; or of the kind that is nowhere. */
static struct frames take_frames(const struct object_code *code)
{
    struct frames frames = {0};
    const struct elf_section *const section = jd_elf_section(&code->object, ".eh_frame");
    const struct elf_section *const text = jd_elf_section(&code->object, ".text");
    if (section == NULL || section->size == 0)
        return frames;
    frames.size = section->size;
    if (section->address != 0) {
        frames.copy = jd_memory_copy(section->address, section->size);
        frames.address = section->address;
    } else if (text != NULL && text->address != 0 && section->data.size == section->size) {
        frames.copy = malloc((size_t)section->size);
        frames.address = text->address;
        if (frames.copy != NULL)
            memcpy(frames.copy, section->data.data, (size_t)section->size);
        if (frames.copy != NULL && !jd_text_frames_to_relative(frames.copy, frames.size)) {
            free(frames.copy);
            frames.copy = NULL;
        }
    }
    return frames;
}

static void load(const struct object_code *code, const struct elf_function *function,
                 const struct frames *frames)
{
    struct call_track track;
    struct jitdump_code load = {
        .name = function->name, .code_addr = function->address, .code_size = function->size};
    if (function->size > JITDUMP_CODE_SIZE_MAX)
        return;
    if (make_track(&track, code, function)) {
        load.tracks = &track.track;
        load.track_count = 1;
    }
    if (frames->copy != NULL) {
        load.eh_frame = frames->copy;
        load.eh_frame_size = frames->size;
        load.eh_frame_addr = frames->address;
    }
    jd_collector_load(&load, code->by);
    jd_call_track_free(&track);
}

void jd_object_code_load(struct object_code *code, uint64_t start, uint64_t end)
{
    const struct frames frames = take_frames(code);
    for (size_t i = 0; i < code->function_count; i++) {
        const struct elf_function *const function = &code->functions[i];
        if (code->loaded[i] || function->address < start || function->address >= end)
            continue;
        code->loaded[i] = true;
        code->loaded_count++;
        load(code, function, &frames);
    }
    free(frames.copy);
}

bool jd_object_code_touches(const struct object_code *code, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < code->function_count; i++)
        if (!code->loaded[i] && code->functions[i].address >= start && code->functions[i].address < end)
            return true;
    return false;
}
