#include "check/dump_check.h"
#include "reader/decode.h"
#include "reader/equal_spans.h"
#include "reader/sort.h"
#include "reader/text_hash.h"

#include <stdlib.h>

/* Each takes a few times 64 KiB of memory: for its name, and what the kernel maps around that. */
enum { PLACES_BETWEEN_RELEASES = 128 };

/* A life as perf sees it: the code with its unwinding data behind it (P15). */
struct place {
    const struct life *life;
    uint64_t code_end;
    uint64_t room_end; /* code_end, if it has no unwinding data */
};

static uint64_t align8(uint64_t size)
{
    return (size + 7) & ~UINT64_C(7);
}

static struct span unwinding_of(const struct history *history, const struct piece *piece)
{
    struct dump_record record;
    if (piece->unwinding == 0 || !jd_dump_reader_at(&history->reader, piece->unwinding, &record))
        return (struct span){0};
    return record.payload;
}

static struct place place_of(const struct history *history, const struct life *life)
{
    const struct piece *const piece = &history->pieces[life->piece];
    struct place place = {life, life->address + piece->code_size, 0};
    struct dump_record record;
    struct unwinding_record unwinding;
    struct problem problem;
    place.room_end = place.code_end;
    if (piece->unwinding != 0 && jd_dump_reader_at(&history->reader, piece->unwinding, &record) &&
        jd_decode_unwinding(&history->reader, &record, &unwinding, &problem) &&
        unwinding.mapped_size != 0)
        place.room_end =
            life->address + align8(piece->code_size) + unwinding.eh_frame.size +
            unwinding.eh_frame_hdr.size;
    return place;
}

static int by_address(const void *left, const void *right)
{
    const struct place *const a = left, *const b = right;
    if (a->life->address != b->life->address)
        return a->life->address < b->life->address ? -1 : 1;
    return a->life->begin < b->life->begin ? -1 : a->life->begin > b->life->begin;
}

/* The first place at or behind `address` and, there, not begun before `begin`. */
static uint32_t find(const struct place *places, uint32_t count, uint64_t address, uint64_t begin)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct life *const life = places[middle].life;
        if (life->address < address || (life->address == address && life->begin < begin))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* `other` is the one that should not have been loaded there. */
static void tell(struct findings *findings, enum finding finding, const struct history *history,
                 const struct place *place, const struct place *other)
{
    const struct piece *const a = &history->pieces[place->life->piece];
    const struct piece *const b = &history->pieces[other->life->piece];
    const char *const where =
        other->life->address < place->life->address ? "in front of" : "behind";
    jd_finding_add(findings, finding, b->load, "%.*s at 0x%llx, %s %.*s at 0x%llx",
                   b->name.size < 50 ? (int)b->name.size : 50, (const char *)b->name.data,
                   (unsigned long long)other->life->address, where,
                   a->name.size < 50 ? (int)a->name.size : 50, (const char *)a->name.data,
                   (unsigned long long)place->life->address);
}

/* Pieces by the hash of their name, those of one name by time. */

struct named {
    struct span name;
    uint64_t hash;
    uint64_t timestamp;
};

static struct named named(struct span name, uint64_t timestamp)
{
    return (struct named){name, text_hash(name), timestamp};
}

static int by_name(const void *left, const void *right)
{
    const struct named *const a = left, *const b = right;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    if (a->name.size != b->name.size)
        return a->name.size < b->name.size ? -1 : 1;
    const int order =
        a->name.size != 0 ? memcmp(a->name.data, b->name.data, (size_t)a->name.size) : 0;
    if (order != 0)
        return order;
    return a->timestamp < b->timestamp ? -1 : a->timestamp > b->timestamp;
}

static struct named *sort_names(const struct history *history, const struct mapped_file *file)
{
    struct named *const names = malloc((history->piece_count + (size_t)1) * sizeof(*names));
    uint64_t passed = 0;
    for (uint32_t i = 0; names != NULL && i < history->piece_count; i++) {
        const struct piece *const piece = &history->pieces[i];
        names[i] = named(piece->name, piece->timestamp);
        jd_mapped_file_pass(file, &passed, piece->load);
    }
    if (names != NULL)
        qsort(names, history->piece_count, sizeof(*names), by_name);
    return names;
}

/* An emitter that moves its code loads one function after the other at the new place, and no
 * longer runs the old ones. */
#define MOVED_TOGETHER 1000000 /* ns */

struct checking {
    struct findings *findings;
    const struct history *history;
    const struct place *places;
    uint32_t count;
    const struct named *names;
};

/* Whether a function of this name was loaded once more, up to about that time. */
static bool is_replaced(const struct checking *checking, const struct place *place, uint64_t time)
{
    const struct piece *const piece = &checking->history->pieces[place->life->piece];
    const struct named wanted = named(piece->name, place->life->begin);
    uint32_t low = 0, high = checking->history->piece_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (by_name(&checking->names[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == checking->history->piece_count)
        return false;
    const struct named next = {piece->name, wanted.hash, checking->names[low].timestamp};
    return by_name(&checking->names[low], &next) == 0 &&
           (next.timestamp <= time || next.timestamp - time <= MOVED_TOGETHER);
}

/* Finds each address in the room by halving: one address may have been used very often. */
static void check_room(const struct checking *checking, uint32_t self)
{
    const struct place *const places = checking->places;
    const uint32_t count = checking->count;
    const struct place *const place = &places[self];
    uint32_t i = find(places, count, place->code_end, 0);
    while (i < count && places[i].life->address < place->room_end) {
        const uint64_t address = places[i].life->address;
        /* The first that came later, and the one before it, which may have been there. */
        const uint32_t later = find(places, count, address, place->life->begin + 1);
        if (later > i && places[later - 1].life->end > place->life->begin &&
            places[later - 1].code_end > address &&
            !is_replaced(checking, &places[later - 1], place->life->begin)) {
            tell(checking->findings, FINDING_UNWINDING_HIDES, checking->history, &places[later - 1],
                 place);
            return;
        }
        if (later < count && places[later].life->address == address &&
            places[later].life->begin < place->life->end &&
            !is_replaced(checking, place, places[later].life->begin)) {
            tell(checking->findings, FINDING_UNWINDING_ROOM, checking->history, place,
                 &places[later]);
            return;
        }
        i = find(places, count, address, UINT64_MAX);
        while (i < count && places[i].life->address == address)
            i++;
    }
}

/* A function with unwinding data at the address where one with other such data just was. */
static void check_reuse(struct findings *findings, const struct history *history,
                        const struct place *before, const struct place *place)
{
    const struct piece *const piece = &history->pieces[place->life->piece];
    if (before->life->address != place->life->address || before->life->piece == place->life->piece)
        return;
    const struct span a = unwinding_of(history, &history->pieces[before->life->piece]);
    const struct span b = unwinding_of(history, piece);
    if (a.size == 0 || b.size == 0 || spans_are_equal(a, b))
        return;
    jd_finding_add(findings, FINDING_UNWINDING_REUSED, piece->load, "%.*s at 0x%llx",
                   piece->name.size < 80 ? (int)piece->name.size : 80,
                   (const char *)piece->name.data, (unsigned long long)place->life->address);
}

bool jd_check_places(struct findings *findings, const struct history *history,
                     const struct mapped_file *file)
{
    struct place *const places = malloc((history->life_count + (size_t)1) * sizeof(*places));
    struct named *const names = sort_names(history, file);
    if (places == NULL || names == NULL) {
        free(places);
        free(names);
        return false;
    }
    uint64_t passed = 0;
    for (uint32_t i = 0; i < history->life_count; i++) {
        places[i] = place_of(history, &history->lives[i]);
        jd_mapped_file_pass(file, &passed, history->pieces[history->lives[i].piece].load);
    }
    sort(places, history->life_count, sizeof(*places), by_address);
    const struct checking checking = {findings, history, places, history->life_count, names};
    for (uint32_t i = 0; i < history->life_count; i++) {
        if (places[i].room_end > places[i].code_end)
            check_room(&checking, i);
        if (i > 0)
            check_reuse(findings, history, &places[i - 1], &places[i]);
        /* By address, what they have in the file is in no order. */
        if (i % PLACES_BETWEEN_RELEASES == 0)
            jd_mapped_file_release(file);
    }
    free(places);
    free(names);
    return true;
}
