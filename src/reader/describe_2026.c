/*
 * The inline record of 2026 (id 827346260): offsets, and positions that name their callers. The calls
 * and their ranges are worked out from them.
 *
 * Two positions with the same caller and the same function are in the same call.
 */
#include "reader/describe.h"

#include "format/records.h"
#include "reader/grow.h"

/* What a position's call may be besides an index. */
#define UNSEEN UINT32_MAX
#define IN_PROGRESS (UINT32_MAX - 1)
#define OWN_FUNCTION (UINT32_MAX - 2)

/* Ranges can grow faster than the record; half a gibibyte of them is nobody's code. */
#define RANGE_COUNT_MAX (UINT64_C(1) << 26)

static const char cut[] = "inline record of 2026: shorter than its lists";

/* Where a call is in the tree while it grows; calls are numbered as they come. */
struct tree_call {
    uint32_t caller; /* a position */
    uint32_t function;
    uint32_t parent; /* a call, or OWN_FUNCTION */
    uint32_t depth;  /* 1: in the code's own function */
    uint32_t first_child;
    uint32_t last_child;
    uint32_t next;
    uint32_t last_range; /* index of the opened ranges */
    uint32_t range_count;
    uint32_t place; /* in the depth-first order */
};

struct tree {
    struct describing *describing;
    struct cursor positions; /* at the first */
    uint32_t position_count;
    uint32_t string_count;

    /* Of each position: its call. */
    uint32_t *call_of;
    /* Positions on the way to the outermost. */
    uint32_t *path;
    struct tree_call *calls;
    uint32_t call_count;
    uint32_t first_root;
    uint32_t last_root;
    /* Tables with open addressing, of calls and of functions; UNSEEN: free. */
    uint32_t *call_places;
    uint32_t *function_places;
    uint32_t mask;

    uint64_t opened_count;
};

static bool tree_init(struct tree *tree)
{
    struct description *const description = tree->describing->description;
    const uint64_t count = tree->position_count;
    uint64_t places = 16;
    while (places < 2 * count)
        places *= 2;
    const uint64_t call_words = count * (sizeof(struct tree_call) / sizeof(uint32_t));
    uint32_t *words = jd_reserve_words(description, 2 * count + 2 * places + call_words);
    if (words == NULL || places > UINT32_MAX || !jd_reserve_functions(description, count))
        return false;
    tree->call_of = words;
    tree->call_places = words + count;
    tree->function_places = tree->call_places + places;
    memset(words, 0xff, (size_t)(count + 2 * places) * sizeof(*words));
    tree->path = tree->function_places + places;
    tree->calls = (struct tree_call *)(tree->path + count);
    tree->mask = (uint32_t)(places - 1);
    tree->first_root = tree->last_root = UNSEEN;
    return true;
}

static struct samply_source_position position_at(const struct tree *tree, uint32_t index)
{
    struct cursor cursor = tree->positions;
    cursor.at += (uint64_t)index * sizeof(struct samply_source_position);
    return (struct samply_source_position){
        .caller = (int32_t)cursor_u32(&cursor, cut),
        .function_name = cursor_u32(&cursor, cut),
        .file = (int32_t)cursor_u32(&cursor, cut),
        .function_start_line = cursor_u32(&cursor, cut),
        .function_start_column = cursor_u32(&cursor, cut),
        .line = cursor_u32(&cursor, cut),
        .column = cursor_u32(&cursor, cut),
    };
}

static uint32_t mix(uint32_t hash, uint32_t word)
{
    hash = (hash ^ word) * UINT32_C(0x9e3779b1);
    return hash ^ hash >> 15;
}

static uint32_t file_of(const struct samply_source_position *position)
{
    return position->file >= 0 ? (uint32_t)position->file : DESCRIPTION_NONE;
}

static uint32_t function_of(struct tree *tree, const struct samply_source_position *position)
{
    struct description *const description = tree->describing->description;
    const struct described_function function = {position->function_name, file_of(position),
                                                position->function_start_line,
                                                position->function_start_column};
    uint32_t at = mix(mix(mix(mix(0, function.name), function.file), function.start_line),
                      function.start_column);
    for (at &= tree->mask; tree->function_places[at] != UNSEEN; at = (at + 1) & tree->mask) {
        const struct described_function *const there =
            &description->functions[tree->function_places[at]];
        if (there->name == function.name && there->file == function.file &&
            there->start_line == function.start_line &&
            there->start_column == function.start_column)
            return tree->function_places[at];
    }
    description->functions[description->function_count] = function;
    return tree->function_places[at] = description->function_count++;
}

/* The call at position `caller`, which is in call `parent`, of a function. */
static uint32_t call_to(struct tree *tree, uint32_t caller, uint32_t parent, uint32_t function)
{
    uint32_t at = mix(mix(0, caller), function);
    for (at &= tree->mask; tree->call_places[at] != UNSEEN; at = (at + 1) & tree->mask) {
        const struct tree_call *const there = &tree->calls[tree->call_places[at]];
        if (there->caller == caller && there->function == function)
            return tree->call_places[at];
    }
    const uint32_t index = tree->call_count++;
    tree->call_places[at] = index;
    const bool outermost = parent == OWN_FUNCTION;
    tree->calls[index] = (struct tree_call){
        .caller = caller,
        .function = function,
        .parent = parent,
        .depth = outermost ? 1 : tree->calls[parent].depth + 1,
        .first_child = UNSEEN,
        .last_child = UNSEEN,
        .next = UNSEEN,
    };
    uint32_t *const first = outermost ? &tree->first_root : &tree->calls[parent].first_child;
    uint32_t *const last = outermost ? &tree->last_root : &tree->calls[parent].last_child;
    if (*first == UNSEEN)
        *first = index;
    else
        tree->calls[*last].next = index;
    *last = index;
    return index;
}

/* Sets the calls of a position and of all its callers. */
static enum described find_call(struct tree *tree, uint32_t position)
{
    struct describing *const describing = tree->describing;
    uint32_t length = 0;
    uint32_t next = position;
    while (tree->call_of[next] == UNSEEN) {
        const struct samply_source_position at = position_at(tree, next);
        const uint64_t offset =
            cursor_offset(&tree->positions) + (uint64_t)next * sizeof(struct samply_source_position);
        if (at.function_name >= tree->string_count || at.file < -1 ||
            (at.file >= 0 && (uint32_t)at.file >= tree->string_count) || at.caller < -1 ||
            (at.caller >= 0 && (uint32_t)at.caller >= tree->position_count))
            return describe_wrongly(describing, offset,
                                    "inline record of 2026: a position with an index out of range");
        tree->call_of[next] = IN_PROGRESS;
        tree->path[length++] = next;
        if (at.caller < 0)
            break;
        next = (uint32_t)at.caller;
        if (tree->call_of[next] == IN_PROGRESS)
            return describe_wrongly(describing, offset,
                                    "inline record of 2026: a position that is its own caller");
    }
    while (length > 0) {
        const uint32_t index = tree->path[--length];
        const struct samply_source_position at = position_at(tree, index);
        const uint32_t function = function_of(tree, &at);
        const uint32_t caller = (uint32_t)at.caller;
        tree->call_of[index] =
            at.caller < 0 ? OWN_FUNCTION : call_to(tree, caller, tree->call_of[caller], function);
    }
    return DESCRIBED;
}

static bool open_range(struct tree *tree, uint32_t call, uint32_t begin)
{
    struct description_memory *const memory = tree->describing->description->memory;
    struct opened_range *const ranges =
        tree->opened_count < RANGE_COUNT_MAX
            ? grow(memory->opened, &memory->opened_capacity, tree->opened_count + 1, sizeof(*ranges))
            : NULL;
    if (ranges == NULL)
        return false;
    memory->opened = ranges;
    ranges[tree->opened_count] = (struct opened_range){call, {begin, begin}};
    tree->calls[call].last_range = (uint32_t)tree->opened_count++;
    tree->calls[call].range_count++;
    return true;
}

/* From the code in one call to the code in another: those that only one of them is in end, or begin. What
 * goes on goes on in the same range, so that no two ranges of a call touch. */
static bool step(struct tree *tree, uint32_t from, uint32_t to, uint32_t code_offset)
{
    struct opened_range *opened = tree->describing->description->memory->opened;
    while (from != to) {
        const uint32_t from_depth = from != OWN_FUNCTION ? tree->calls[from].depth : 0;
        const uint32_t to_depth = to != OWN_FUNCTION ? tree->calls[to].depth : 0;
        if (from_depth >= to_depth) {
            opened[tree->calls[from].last_range].range.end = code_offset;
            from = tree->calls[from].parent;
        }
        if (to_depth >= from_depth) {
            if (!open_range(tree, to, code_offset))
                return false;
            opened = tree->describing->description->memory->opened;
            to = tree->calls[to].parent;
        }
    }
    return true;
}

/* Walks through the code: rows, and the ranges of each call as they open. */
static enum described walk(struct tree *tree, struct cursor offsets, uint64_t offset_count)
{
    static const char no_room[] = "inline record of 2026: more ranges than there is memory for";
    struct describing *const describing = tree->describing;
    struct description *const description = describing->description;
    const uint64_t code_size = describing->piece->code_size;
    uint32_t current = OWN_FUNCTION;
    struct samply_code_offset entry = {0};
    if (offset_count > 0)
        entry.code_offset = cursor_u32(&offsets, cut);
    for (uint64_t i = 0; i < offset_count && entry.code_offset < code_size; i++) {
        const uint64_t place = cursor_offset(&offsets) - sizeof(entry.code_offset);
        entry.source_position = cursor_u32(&offsets, cut);
        const uint32_t code_offset = entry.code_offset;
        const bool last = i + 1 == offset_count;
        if (!last)
            entry.code_offset = cursor_u32(&offsets, cut);
        if (!last && entry.code_offset < code_offset)
            return describe_wrongly(describing, place, "inline record of 2026: offsets that descend");
        if (entry.source_position >= tree->position_count)
            return describe_wrongly(describing, place,
                                    "inline record of 2026: an offset with an index out of range");
        if (!last && entry.code_offset == code_offset)
            continue;
        const enum described described = find_call(tree, entry.source_position);
        if (described != DESCRIBED)
            return described;
        const uint32_t call = tree->call_of[entry.source_position];
        if (!step(tree, current, call, code_offset))
            return describe_wrongly(describing, place, no_room);
        current = call;
        const struct samply_source_position position = position_at(tree, entry.source_position);
        description->rows[description->row_count++] = (struct line_row){
            code_offset, file_of(&position), position.line, position.line != 0 ? position.column : 0};
    }
    return step(tree, current, OWN_FUNCTION, (uint32_t)code_size)
               ? DESCRIBED
               : describe_wrongly(describing, describing->record, no_room);
}

/* Calls depth first, and behind each other their ranges. */
static bool write_calls(struct tree *tree)
{
    struct description *const description = tree->describing->description;
    if (!jd_reserve_calls(description, tree->call_count) ||
        !jd_reserve_ranges(description, tree->opened_count))
        return false;
    uint32_t ranges = 0;
    uint32_t next = tree->first_root;
    while (next != UNSEEN) {
        struct tree_call *const call = &tree->calls[next];
        const struct samply_source_position caller = position_at(tree, call->caller);
        call->place = description->call_count++;
        description->calls[call->place] = (struct inlined_call){
            .parent = call->parent != OWN_FUNCTION ? tree->calls[call->parent].place
                                                   : DESCRIPTION_NONE,
            .depth = call->depth - 1,
            .function = call->function,
            .call_file = file_of(&caller),
            .call_line = caller.line,
            .call_column = caller.line != 0 ? caller.column : 0,
            .first_range = ranges,
        };
        ranges += call->range_count;
        if (call->first_child != UNSEEN) {
            next = call->first_child;
            continue;
        }
        while (next != OWN_FUNCTION && tree->calls[next].next == UNSEEN)
            next = tree->calls[next].parent;
        next = next != OWN_FUNCTION ? tree->calls[next].next : UNSEEN;
    }
    for (uint64_t i = 0; i < tree->opened_count; i++) {
        const struct opened_range *const opened = &description->memory->opened[i];
        struct inlined_call *const call = &description->calls[tree->calls[opened->call].place];
        description->ranges[call->first_range + call->range_count++] = opened->range;
    }
    description->range_count = ranges;
    return true;
}

enum described jd_describe_2026(struct describing *describing)
{
    struct description *const description = describing->description;
    struct cursor *const cursor = &describing->cursor;
    cursor_u64(cursor, cut); /* code_addr: the one in the load is used */
    const uint64_t offset_count = cursor_u64(cursor, cut);
    const uint64_t position_count = cursor_u64(cursor, cut);
    const uint64_t string_count = cursor_u64(cursor, cut);
    const uint64_t left = cursor_left(cursor);
    /* Each below 2^32 / 8, since a record is below 4 GiB. */
    if (offset_count > left / sizeof(struct samply_code_offset) ||
        position_count > left / sizeof(struct samply_source_position) ||
        offset_count * sizeof(struct samply_code_offset) +
                position_count * sizeof(struct samply_source_position) >
            left)
        return describe_wrongly(describing, describing->record, cut);

    struct tree tree = {.describing = describing, .position_count = (uint32_t)position_count};
    const struct cursor offsets = *cursor;
    cursor_take(cursor, offset_count * sizeof(struct samply_code_offset), cut);
    tree.positions = *cursor;
    cursor_take(cursor, position_count * sizeof(struct samply_source_position), cut);
    enum described described = jd_describe_strings(
        describing, cursor, string_count, "inline record of 2026: fewer strings than it says");
    if (described != DESCRIBED)
        return described;
    tree.string_count = (uint32_t)string_count;
    if (!tree_init(&tree) || !jd_reserve_rows(description, offset_count))
        return DESCRIBED_NO_MEMORY;
    described = walk(&tree, offsets, offset_count);
    if (described == DESCRIBED && !write_calls(&tree))
        described = DESCRIBED_NO_MEMORY;
    return described;
}
