#include "inject/layout.h"

#include <stdlib.h>

enum {
    /* In one run: code of other pages is not mapped by the way. */
    GAP_MAX = 4096,
    PACKED_ALIGNMENT = 16
};
#define PACKED_ADDRESS UINT64_C(0x100000)

/* A life, and where it lies in which layer. */
struct slot {
    const struct life *life;
    const struct piece *piece;
    uint64_t size;
    uint64_t file_address;
    uint32_t layer;
    bool is_packed;
    bool is_early; /* samples were taken there before */
    bool alone;    /* nothing else ever lay at its addresses */
};

struct planning {
    const struct history *history;
    const struct layout_options *options;
    struct slot *slots;
    uint64_t slot_count;
    uint64_t *layer_ends;
    uint32_t layer_count;
    uint64_t packed_end;
};

static int by_address(const void *left, const void *right)
{
    const struct slot *const a = left, *const b = right;
    if (a->life->address != b->life->address)
        return a->life->address < b->life->address ? -1 : 1;
    return a->life->begin < b->life->begin ? -1 : a->life->begin > b->life->begin;
}

static int by_layer(const void *left, const void *right)
{
    const struct slot *const a = left, *const b = right;
    if (a->layer != b->layer)
        return a->layer < b->layer ? -1 : 1;
    return a->file_address < b->file_address ? -1 : a->file_address > b->file_address;
}

static uint64_t end_of(const struct slot *slot)
{
    return slot->life->address + slot->size;
}

static void take_lives(struct planning *planning)
{
    const struct history *const history = planning->history;
    for (uint32_t i = 0; i < history->life_count; i++) {
        const struct life *const life = &history->lives[i];
        const uint64_t size = life_size(history, life);
        const unsigned char *const marks = planning->options->marks;
        const unsigned int mark = marks != NULL ? marks[i] : 0;
        if (size == 0 || size > UINT64_MAX - life->address ||
            (planning->options->only_sampled && (mark & MARK_SAMPLED) == 0))
            continue;
        planning->slots[planning->slot_count++] =
            (struct slot){.life = life,
                          .piece = &history->pieces[life->piece],
                          .size = size,
                          .file_address = life->address,
                          .is_early = (mark & MARK_EARLY) != 0};
    }
}

static void find_alone(struct planning *planning)
{
    uint64_t end = 0;
    for (uint64_t i = 0; i < planning->slot_count; i++) {
        struct slot *const slot = &planning->slots[i];
        const bool before = i > 0 && end > slot->life->address;
        const bool behind =
            i + 1 < planning->slot_count && slot[1].life->address < end_of(slot);
        slot->alone = !before && !behind && !slot->is_early;
        if (end_of(slot) > end)
            end = end_of(slot);
    }
}

/* Behind all that is packed already. */
static void pack(struct planning *planning, struct slot *slot)
{
    slot->is_packed = true;
    slot->file_address = planning->packed_end;
    planning->packed_end +=
        (slot->size + PACKED_ALIGNMENT - 1) / PACKED_ALIGNMENT * PACKED_ALIGNMENT;
}

/* By address, each slot goes to the first layer that is free there: no more layers than lie over
 * each other anywhere. False: out of memory. */
static bool choose_layers(struct planning *planning)
{
    uint32_t room = 0;
    for (uint64_t i = 0; i < planning->slot_count; i++) {
        struct slot *const slot = &planning->slots[i];
        uint32_t layer = 0;
        while (layer < planning->layer_count && planning->layer_ends[layer] > slot->life->address)
            layer++;
        slot->layer = layer;
        if (planning->options->layer_max != 0 && layer == planning->options->layer_max) {
            pack(planning, slot);
            continue;
        }
        if (layer == room) {
            room = room < 16 ? 16 : 2 * room;
            uint64_t *const grown = realloc(planning->layer_ends, room * sizeof(*grown));
            if (grown == NULL)
                return false;
            planning->layer_ends = grown;
        }
        planning->layer_ends[layer] = end_of(slot);
        if (layer == planning->layer_count)
            planning->layer_count++;
    }
    return true;
}

/* Those of one name together, in the order of their loading. */
static int by_name(const void *left, const void *right)
{
    const struct slot *const a = left, *const b = right;
    const int order = compare_spans(a->piece->name, b->piece->name);
    if (order != 0)
        return order;
    return a->life->begin < b->life->begin ? -1 : a->life->begin > b->life->begin;
}

static void pack_all(struct planning *planning)
{
    qsort(planning->slots, (size_t)planning->slot_count, sizeof(*planning->slots), by_name);
    for (uint64_t i = 0; i < planning->slot_count; i++)
        pack(planning, &planning->slots[i]);
}

/* Files: as many of a layer's slots as are in reach of each other. */
static bool make_files(struct layout *layout, const struct planning *planning)
{
    uint32_t room = 0;
    for (uint64_t i = 0; i < planning->slot_count; i++)
        layout->placed[i] =
            (struct placed){planning->slots[i].piece, planning->slots[i].file_address};
    for (uint64_t begin = 0; begin < planning->slot_count;) {
        uint64_t end = begin;
        while (end < planning->slot_count &&
               planning->slots[end].layer == planning->slots[begin].layer)
            end++;
        size_t reach = elf_reach(layout->placed + begin, (size_t)(end - begin));
        if (reach == 0)
            reach = 1; /* larger than any file may be: the writer says so */
        if (layout->file_count == room) {
            room = room < 16 ? 16 : 2 * room;
            struct layout_file *const grown = realloc(layout->files, room * sizeof(*grown));
            if (grown == NULL)
                return false;
            layout->files = grown;
        }
        layout->files[layout->file_count++] = (struct layout_file){
            layout->placed + begin, reach, planning->slots[begin].is_packed};
        begin += reach;
    }
    return true;
}

/* Whether the slot can be mapped together with the one before, up to whose end a run reaches. */
static bool continues(const struct planning *planning, const struct slot *before,
                      const struct slot *slot)
{
    return slot->alone && before->alone && !slot->is_packed && slot->life->address - end_of(before) <= GAP_MAX &&
           !jd_ranges_overlap(planning->options->occupied, end_of(before), slot->life->address);
}

static void make_mappings(struct layout *layout, const struct planning *planning)
{
    const struct slot *slot = planning->slots;
    for (uint32_t file = 0; file < layout->file_count; file++) {
        for (uint64_t i = 0; i < layout->files[file].count; i++, slot++) {
            struct layout_mapping *const last = layout->mappings + layout->mapping_count - 1;
            if (i > 0 && continues(planning, slot - 1, slot)) {
                last->size = end_of(slot) - last->address;
                if (slot->life->begin < last->time)
                    last->time = slot->life->begin;
                continue;
            }
            layout->mappings[layout->mapping_count++] =
                (struct layout_mapping){slot->life->begin, slot->life->address, slot->size,
                                        slot->file_address, file};
        }
    }
}

static bool plan(struct layout *layout, struct planning *planning)
{
    const size_t room = (size_t)planning->history->life_count + 1;
    planning->slots = malloc(room * sizeof(*planning->slots));
    layout->placed = malloc(room * sizeof(*layout->placed));
    layout->mappings = malloc(room * sizeof(*layout->mappings));
    if (planning->slots == NULL || layout->placed == NULL || layout->mappings == NULL)
        return false;
    take_lives(planning);
    if (planning->slot_count == 0)
        return true;
    qsort(planning->slots, (size_t)planning->slot_count, sizeof(*planning->slots), by_address);
    find_alone(planning);
    planning->packed_end = PACKED_ADDRESS;
    if (planning->options->by_name)
        pack_all(planning);
    else if (!choose_layers(planning))
        return false;
    qsort(planning->slots, (size_t)planning->slot_count, sizeof(*planning->slots), by_layer);
    if (!make_files(layout, planning))
        return false;
    make_mappings(layout, planning);
    return true;
}

bool jd_layout_plan(struct layout *layout, const struct history *history,
                    const struct layout_options *options)
{
    *layout = (struct layout){0};
    struct planning planning = {.history = history, .options = options};
    const bool planned = plan(layout, &planning);
    free(planning.slots);
    free(planning.layer_ends);
    return planned;
}

void jd_layout_free(struct layout *layout)
{
    free(layout->files);
    free(layout->mappings);
    free(layout->placed);
    *layout = (struct layout){0};
}
