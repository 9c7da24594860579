#include "writers/string_table.h"

#include "reader/text_hash.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 1024 };

static uint32_t hash_of(const unsigned char *text, size_t length)
{
    return (uint32_t)text_hash((struct span){text, length});
}

static bool is_at(const struct string_table *table, uint32_t offset, const unsigned char *text,
                  size_t length)
{
    const unsigned char *const found = table->bytes.data + offset;
    return table->bytes.size - offset > length && memcmp(found, text, length) == 0 &&
           found[length] == '\0';
}

static struct table_slot *slot_of(const struct string_table *table, const unsigned char *text,
                                  size_t length, uint32_t hash)
{
    size_t at = hash & (table->slot_count - 1);
    while (table->slots[at].string.offset != 0 &&
           (table->slots[at].hash != hash || !is_at(table, table->slots[at].string.offset, text, length)))
        at = (at + 1) & (table->slot_count - 1);
    return &table->slots[at];
}

/* The strings themselves are not looked at: there may be many, and they are all over the memory. */
static void grow_slots(struct string_table *table)
{
    struct table_slot *const old = table->slots;
    const size_t old_count = table->slot_count;
    const size_t count = old_count == 0 ? FIRST_SLOTS : 2 * old_count;
    struct table_slot *const slots = calloc(count, sizeof(*slots));
    if (slots == NULL) {
        table->bytes.failed = true;
        return;
    }
    table->slots = slots;
    table->slot_count = count;
    for (size_t i = 0; i < old_count; i++) {
        if (old[i].string.offset == 0)
            continue;
        size_t at = old[i].hash & (count - 1);
        while (slots[at].string.offset != 0)
            at = (at + 1) & (count - 1);
        slots[at] = old[i];
    }
    free(old);
}

void string_table_init(struct string_table *table)
{
    *table = (struct string_table){.string_count = 0};
    bytes_u8(&table->bytes, 0);
}

void string_table_free(struct string_table *table)
{
    bytes_free(&table->bytes);
    free(table->slots);
    table->slots = NULL;
}

void string_table_reset(struct string_table *table)
{
    if (table->slots != NULL)
        memset(table->slots, 0, table->slot_count * sizeof(*table->slots));
    table->string_count = 0;
    table->bytes.size = 1;
}

void string_table_read_ahead(const struct string_table *table, const void *text, size_t length)
{
    if (table->slot_count > 0 && length > 0)
        __builtin_prefetch(&table->slots[hash_of(text, length) & (table->slot_count - 1)], 1);
}

struct table_string string_table_add(struct string_table *table, const void *text, size_t length)
{
    const struct table_string none = {0, 0};
    if (length == 0)
        return none;
    if (2 * ((size_t)table->string_count + 1) > table->slot_count)
        grow_slots(table);
    if (table->bytes.failed)
        return none;
    const uint32_t hash = hash_of(text, length);
    struct table_slot *const slot = slot_of(table, text, length, hash);
    if (slot->string.offset == 0) {
        const size_t offset = table->bytes.size;
        if (offset > UINT32_MAX || length > UINT32_MAX - offset)
            table->bytes.failed = true;
        bytes_copy(&table->bytes, text, length);
        bytes_u8(&table->bytes, 0);
        if (table->bytes.failed)
            return none;
        *slot = (struct table_slot){{(uint32_t)offset, ++table->string_count}, hash};
    }
    return slot->string;
}
