#include "../platform/c_library.h"

#include "rooms.h"

#include "../encode/eh_frame.h"

#include <inttypes.h>
#include <stdlib.h>

#define NAME_SIZE 64

struct room {
    uint64_t code_addr;
    uint64_t code_end;
    uint64_t end; /* of the room behind the code */
    char name[NAME_SIZE];
};

struct rooms {
    uint64_t count;
    uint64_t capacity;
    struct room list[];
};

static bool overlap(uint64_t begin, uint64_t end, uint64_t other_begin, uint64_t other_end)
{
    return begin < other_end && other_begin < end;
}

static struct room room_of(const struct function_records *record)
{
    const struct jitdump_code *code = record->code;
    struct room room = {.code_addr = code->code_addr, .code_end = code->code_addr + code->code_size};
    room.end = room.code_end;
    if (record->unwinding_info_size != 0)
        room.end = code->code_addr + eh_frame_offset(code->code_size) +
                   record->unwinding_info_size - sizeof(struct jit_code_unwinding_info);
    const size_t size = record->name.size < NAME_SIZE ? record->name.size : NAME_SIZE - 1;
    memcpy(room.name, record->name.bytes, size);
    return room;
}

/* Of the functions that are there the new one replaces some, and takes the room of others. */
static void compare(struct jitdump *dump, struct rooms *rooms, struct room *room)
{
    for (uint64_t i = 0; i < rooms->count; i++) {
        struct room *other = &rooms->list[i];
        if (overlap(room->code_addr, room->code_end, other->code_addr, other->code_end)) {
            *other = rooms->list[--rooms->count];
            i--;
        } else if (overlap(room->code_addr, room->code_end, other->code_end, other->end)) {
            jd_report(dump, "%s lies in the room behind %s, at 0x%" PRIx64 ": perf up to 6.12 loses call "
                            "chains through that one. Leave jitdump_unwind_size() bytes free",
                      room->name, other->name, room->code_addr);
            other->end = other->code_end;
        } else if (overlap(room->code_end, room->end, other->code_addr, other->code_end)) {
            jd_report(dump, "the room behind %s, at 0x%" PRIx64 ", reaches into %s: perf up to 6.12 loses "
                            "what is there of that one. Leave jitdump_unwind_size() bytes free",
                      room->name, room->code_end, other->name);
        }
    }
}

/* Doubled when it is full. NULL: no memory, and what was there stays. */
static struct rooms *grown(struct rooms *rooms)
{
    const uint64_t count = rooms != NULL ? rooms->count : 0;
    if (rooms != NULL && count < rooms->capacity)
        return rooms;
    const uint64_t capacity = count != 0 ? 2 * count : 64;
    struct rooms *larger = malloc(sizeof(*rooms) + (size_t)capacity * sizeof(rooms->list[0]));
    if (larger == NULL)
        return NULL;
    if (rooms != NULL)
        memcpy(larger->list, rooms->list, (size_t)count * sizeof(rooms->list[0]));
    larger->count = count;
    larger->capacity = capacity;
    free(rooms);
    return larger;
}

void jd_rooms_load(struct jitdump *dump, const struct function_records *record)
{
    const struct process_shield shield = jd_process_shield();
    /* Nobody waits: it is held by a thread that the child of a fork does not have, perhaps. Who finds
     * it taken leaves its function out. Acquire pairs with the release of who had it before. */
    if (atomic_exchange_explicit(&dump->rooms_taken, 1, memory_order_acquire) == 0) {
        struct room room = room_of(record);
        if (dump->rooms != NULL)
            compare(dump, dump->rooms, &room);
        struct rooms *rooms = grown(dump->rooms);
        if (rooms != NULL) {
            dump->rooms = rooms;
            rooms->list[rooms->count++] = room;
        }
        atomic_store_explicit(&dump->rooms_taken, 0, memory_order_release);
    }
    jd_process_unshield(shield);
}

void jd_rooms_free(struct jitdump *dump)
{
    free(dump->rooms);
    dump->rooms = NULL;
}
