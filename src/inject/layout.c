#include "inject/layout.h"

#include "inject/regions.h"
#include "reader/sort.h"
#include "writers/elf_extent.h"

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
    uint64_t since; /* to be mapped from then on */
    uint32_t layer;
    uint32_t order; /* by address */
    bool is_packed;
    bool is_early; /* samples were taken there before */
    bool alone;    /* nothing else ever lay at its addresses */
    bool is_copy;  /* an earlier epoch has the life, too: not to be mapped before its own */
};

struct planning {
    const struct history *history;
    const struct layout_options *options;
    struct slot *slots;
    uint64_t slot_count;
    uint64_t *layer_ends;
    uint32_t layer_count;
    uint64_t packed_end;
    struct regions regions; /* for epochs */
};

#define NO_LAYER UINT32_MAX

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
                          .since = life->begin,
                          .layer = NO_LAYER,
                          .is_early = (mark & MARK_EARLY) != 0};
    }
}

static void find_alone(struct planning *planning)
{
    uint64_t end = 0;
    for (uint64_t i = 0; i < planning->slot_count; i++) {
        struct slot *const slot = &planning->slots[i];
        slot->order = (uint32_t)i;
        const bool before = end > slot->life->address;
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

/* By address, each slot goes to the first layer from `lowest` on that is free there: no more layers than lie
 * over each other anywhere. But for those that have one. False: out of memory. */
static bool choose_layers(struct planning *planning, uint32_t lowest)
{
    uint32_t room = lowest;
    planning->layer_count = lowest;
    for (uint64_t i = 0; i < planning->slot_count; i++) {
        struct slot *const slot = &planning->slots[i];
        uint32_t layer = lowest;
        if (slot->layer != NO_LAYER)
            continue;
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

static void find_slots(const struct planning *planning, uint32_t *slot_of)
{
    const struct life *const lives = planning->history->lives;
    for (uint32_t i = 0; i < planning->history->life_count; i++)
        slot_of[i] = UINT32_MAX;
    for (uint64_t i = 0; i < planning->slot_count; i++)
        slot_of[planning->slots[i].life - lives] = (uint32_t)i;
}

/* A layer for each epoch, the rest above them. A life that is in use in several is mapped anew from each
 * later one's beginning on. */
static bool choose_epochs(struct planning *planning)
{
    const struct epochs *const epochs = planning->options->epochs;
    const uint64_t slot_count = planning->slot_count;
    uint32_t *const slot_of =
        malloc((planning->history->life_count + (size_t)1) * sizeof(*slot_of));
    if (slot_of == NULL)
        return false;
    find_slots(planning, slot_of);
    for (uint64_t i = 0; i < epochs->member_count; i++) {
        const struct epoch_member member = epochs->members[i];
        if (slot_of[member.life] == UINT32_MAX)
            continue;
        struct slot *slot = &planning->slots[slot_of[member.life]];
        if (slot->layer != NO_LAYER) {
            struct slot *const copy = &planning->slots[planning->slot_count++];
            *copy = *slot;
            copy->is_copy = true;
            if (epochs->begins[member.epoch] > copy->since)
                copy->since = epochs->begins[member.epoch];
            slot = copy;
        }
        slot->layer = member.epoch;
    }
    free(slot_of);
    for (uint64_t i = 0; i < slot_count; i++)
        if (planning->slots[i].layer == NO_LAYER && planning->slots[i].alone)
            planning->slots[i].layer = 0;
    return choose_layers(planning, epochs->count != 0 ? (uint32_t)epochs->count : 1);
}

static bool find_regions(struct planning *planning)
{
    for (uint64_t i = 0; i < planning->slot_count; i++)
        if (!jd_regions_add(&planning->regions, planning->slots[i].life->address,
                            end_of(&planning->slots[i]), planning->options->foreign))
            return false;
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
    for (uint64_t i = 0; i < planning->slot_count; i++) {
        planning->slots[i].layer = 0;
        pack(planning, &planning->slots[i]);
    }
}

/* Whether the slots may be in one file. */
static bool belong_together(const struct planning *planning, const struct slot *a,
                            const struct slot *b)
{
    return a->layer == b->layer &&
           (planning->options->epochs == NULL ||
            jd_regions_find(&planning->regions, a->life->address) ==
                jd_regions_find(&planning->regions, b->life->address));
}

static void set_load(struct layout_file *file, const struct planning *planning,
                     const struct slot *slot)
{
    if (planning->options->epochs == NULL)
        return;
    const struct range *const region = jd_regions_find(&planning->regions, slot->life->address);
    const uint64_t below = ELF_FIRST_SIZE + planning->layer_count - slot->layer;
    if (region->begin <= below)
        return; /* no process has code there */
    file->load_address = region->begin - below;
    file->load_end = region->end;
}

/* Files: as many of a layer's slots as are in reach of each other. */
static bool make_files(struct layout *layout, const struct planning *planning)
{
    uint32_t room = 0;
    for (uint64_t i = 0; i < planning->slot_count; i++)
        layout->placed[i] =
            (struct placed){planning->slots[i].piece, planning->slots[i].file_address};
    for (uint64_t begin = 0; begin < planning->slot_count;) {
        uint64_t end = begin + 1; /* of what is larger than any file may be the writer says so */
        while (end < planning->slot_count &&
               belong_together(planning, &planning->slots[begin], &planning->slots[end]) &&
               elf_reaches(&layout->placed[begin], &layout->placed[end]))
            end++;
        if (layout->file_count == room) {
            room = room < 16 ? 16 : 2 * room;
            struct layout_file *const grown = realloc(layout->files, room * sizeof(*grown));
            if (grown == NULL)
                return false;
            layout->files = grown;
        }
        struct layout_file *const file = &layout->files[layout->file_count++];
        *file = (struct layout_file){.pieces = layout->placed + begin,
                                     .count = end - begin,
                                     .packed = planning->slots[begin].is_packed};
        set_load(file, planning, &planning->slots[begin]);
        begin = end;
    }
    return true;
}

/* Whether the slot can be mapped together with the one before, up to whose end a run reaches. */
static bool continues(const struct planning *planning, const struct slot *before,
                      const struct slot *slot)
{
    return slot->alone && before->alone && !slot->is_packed && slot->is_copy == before->is_copy &&
           slot->order == before->order + 1 &&
           slot->life->address - end_of(before) <= GAP_MAX &&
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
                if (slot->since < last->time)
                    last->time = slot->since;
                continue;
            }
            layout->mappings[layout->mapping_count++] =
                (struct layout_mapping){slot->since, slot->life->address, slot->size,
                                        slot->file_address, file};
        }
    }
}

static bool plan(struct layout *layout, struct planning *planning)
{
    const struct epochs *const epochs = planning->options->epochs;
    const size_t room = (size_t)planning->history->life_count + 1 +
                        (epochs != NULL ? (size_t)epochs->member_count : 0);
    planning->slots = malloc(room * sizeof(*planning->slots));
    layout->placed = malloc(room * sizeof(*layout->placed));
    layout->mappings = malloc(room * sizeof(*layout->mappings));
    if (planning->slots == NULL || layout->placed == NULL || layout->mappings == NULL)
        return false;
    take_lives(planning);
    if (planning->slot_count == 0)
        return true;
    sort(planning->slots, planning->slot_count, sizeof(*planning->slots), by_address);
    find_alone(planning);
    planning->packed_end = PACKED_ADDRESS;
    if (planning->options->by_name)
        pack_all(planning);
    else if (epochs != NULL ? !find_regions(planning) || !choose_epochs(planning)
                            : !choose_layers(planning, 0))
        return false;
    sort(planning->slots, planning->slot_count, sizeof(*planning->slots), by_layer);
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
    jd_regions_free(&planning.regions);
    return planned;
}

void jd_layout_free(struct layout *layout)
{
    free(layout->files);
    free(layout->mappings);
    free(layout->placed);
    *layout = (struct layout){0};
}
