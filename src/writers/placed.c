#include "writers/placed.h"

#include "reader/read_ahead.h"
#include "writers/bytes.h"

#include <stdlib.h>

enum { NUMBERS_MAX = 7 }; /* that are added to a digest at once */

bool placed_at(const struct history *history, uint64_t time, struct placed **pieces, size_t *count)
{
    uint32_t *lives;
    uint32_t life_count;
    if (!jd_history_at(history, time, &lives, &life_count))
        return false;
    struct placed *const found = malloc(((size_t)life_count + 1) * sizeof(*found));
    if (found != NULL) {
        for (uint32_t i = 0; i < life_count; i++) {
            const struct life *const life = &history->lives[lives[i]];
            found[i] = (struct placed){&history->pieces[life->piece], life->address};
        }
        *pieces = found;
        *count = life_count;
    }
    free(lives);
    return found != NULL;
}

bool placed_are_disjoint(const struct placed *pieces, size_t count)
{
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t size = pieces[i].piece->code_size;
        if (pieces[i].address < end || size == 0 || size > UINT64_MAX - pieces[i].address)
            return false;
        end = pieces[i].address + size;
    }
    return true;
}

static void add_numbers(struct digest *digest, const uint64_t *numbers, size_t count)
{
    unsigned char bytes[NUMBERS_MAX * sizeof(*numbers)];
    for (size_t i = 0; i < count; i++)
        bytes_store(bytes + i * sizeof(*numbers), numbers[i], sizeof(*numbers), false);
    digest_add(digest, bytes, count * sizeof(*numbers));
}

void build_id_begin(struct digest *digest, const struct history *history)
{
    const uint64_t machine[] = {jd_dump_machine(&history->reader),
                                jd_dump_is_big_endian(&history->reader)};
    digest_begin(digest);
    add_numbers(digest, machine, 2);
}

/* Of the record what follows the header, which has the time. */
static struct span contents(const struct history *history, uint64_t offset)
{
    struct dump_record record;
    return offset != 0 && jd_dump_reader_at(&history->reader, offset, &record)
               ? record.payload
               : (struct span){NULL, 0};
}

/* The sizes before all contents: what is longer here and shorter there is something else. */
void build_id_add(struct digest *digest, const struct history *history,
                  const struct placed *placed)
{
    const struct piece *const piece = placed->piece;
    const struct span of[] = {piece->name,
                              {piece->code, piece->code_size},
                              contents(history, piece->debug_info),
                              contents(history, piece->inline_2023),
                              contents(history, piece->inline_2026),
                              contents(history, piece->unwinding)};
    enum { COUNT = sizeof(of) / sizeof(of[0]) };
    uint64_t numbers[NUMBERS_MAX] = {placed->address};
    for (size_t i = 0; i < COUNT; i++)
        numbers[1 + i] = of[i].size;
    add_numbers(digest, numbers, 1 + COUNT);
    for (size_t i = 0; i < COUNT; i++)
        if (of[i].size > 0)
            digest_add(digest, of[i].data, (size_t)of[i].size);
}

void placed_read_ahead(const struct history *history, const struct placed *pieces, size_t count,
                       size_t at)
{
    enum { DISTANCE = 2 };
    if (count - at <= DISTANCE)
        return;
    const struct piece *const piece = pieces[at + DISTANCE].piece;
    const uint64_t before[] = {piece->debug_info, piece->inline_2023, piece->inline_2026,
                               piece->unwinding};
    uint64_t first = piece->load;
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
        if (before[i] != 0 && before[i] < first)
            first = before[i];
    const unsigned char *const load = history->reader.file.data + piece->load;
    read_ahead(history->reader.file.data + first, piece->load - first);
    read_ahead(load, (uint64_t)(piece->code - load) + piece->code_size);
}
