#include "writers/placed.h"

#include "writers/bytes.h"

#include <stdlib.h>

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
    unsigned char bytes[4 * sizeof(*numbers)];
    for (size_t i = 0; i < count; i++)
        bytes_store(bytes + i * sizeof(*numbers), numbers[i], sizeof(*numbers), false);
    digest_add(digest, bytes, count * sizeof(*numbers));
}

void build_id_begin(struct digest *digest, const struct history *history)
{
    const uint64_t machine[] = {jd_dump_machine(&history->reader),
                                jd_dump_is_big_endian(&history->reader)};
    *digest = (struct digest){.length = 0};
    add_numbers(digest, machine, 2);
}

/* What follows the header, which has the time. */
static void add_record(struct digest *digest, const struct history *history, uint64_t offset)
{
    struct dump_record record = {.payload = {NULL, 0}};
    if (offset != 0 && !jd_dump_reader_at(&history->reader, offset, &record))
        record.payload = (struct span){NULL, 0};
    add_numbers(digest, &record.payload.size, 1);
    if (record.payload.size > 0)
        digest_add(digest, record.payload.data, (size_t)record.payload.size);
}

void build_id_add(struct digest *digest, const struct history *history,
                  const struct placed *placed)
{
    const struct piece *const piece = placed->piece;
    const uint64_t sizes[] = {placed->address, piece->code_size, piece->name.size};
    add_numbers(digest, sizes, 3);
    digest_add(digest, piece->name.data, (size_t)piece->name.size);
    digest_add(digest, piece->code, (size_t)piece->code_size);
    add_record(digest, history, piece->debug_info);
    add_record(digest, history, piece->inline_2023);
    add_record(digest, history, piece->inline_2026);
    add_record(digest, history, piece->unwinding);
}
