/*
 * A section of NUL-terminated strings, each of them once: .debug_str, .strtab.
 */
#ifndef JITDUMP_WRITERS_STRING_TABLE_H
#define JITDUMP_WRITERS_STRING_TABLE_H

#include "writers/bytes.h"

/* Where a string is, and which one it is, counted from 1. Of the empty string and after a failure
 * both are 0. */
struct table_string {
    uint32_t offset;
    uint32_t number;
};

struct string_table {
    struct bytes bytes; /* begins with the empty string */
    /* A hash table, open addressing, at most half full; offset 0: an empty slot. */
    struct table_slot {
        struct table_string string;
        uint32_t hash;
    } *slots;
    size_t slot_count; /* a power of two */
    uint32_t string_count;
};

void string_table_init(struct string_table *table);
void string_table_free(struct string_table *table);
/* Empty again, as string_table_init() made it, but for its memory. */
void string_table_reset(struct string_table *table);

/* Gets the place of a text that will be added soon into the cache: a large table is in none. */
void string_table_read_ahead(const struct string_table *table, const void *text, size_t length);

/* The text must not contain a NUL. After a failure (no memory, or beyond 4 GiB) bytes.failed is
 * set. */
struct table_string string_table_add(struct string_table *table, const void *text, size_t length);

#endif
