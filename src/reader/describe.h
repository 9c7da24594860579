/*
 * How a description is put together: one reader for each kind of record, and what they share.
 */
#ifndef JITDUMP_READER_DESCRIBE_H
#define JITDUMP_READER_DESCRIBE_H

#include "reader/decode.h"
#include "reader/description.h"

/* The capacities of a description's arrays, and working memory. */
struct description_memory {
    uint64_t row_capacity;
    uint64_t function_capacity;
    uint64_t call_capacity;
    uint64_t range_capacity;
    uint64_t string_capacity;
    uint32_t *words;
    uint64_t word_capacity;
    uint64_t *keys;
    uint64_t key_capacity;
    struct opened_range *opened;
    uint64_t opened_capacity;
};

/* A range as it is found while the code is walked through. */
struct opened_range {
    uint32_t call;
    struct code_range range;
};

enum described {
    DESCRIBED,
    DESCRIBED_WRONGLY, /* the record breaks its format's rules, see the problem */
    DESCRIBED_NO_MEMORY
};

/* What a record is read with. */
struct describing {
    struct description *description;
    const struct history *history;
    const struct piece *piece;
    struct cursor cursor; /* over the record's payload */
    uint64_t record;      /* its offset */
    struct problem problem;
};

enum described jd_describe_debug_info(struct describing *describing);
enum described jd_describe_2023(struct describing *describing);
enum described jd_describe_2026(struct describing *describing);

/* The record is wrong at `offset`, or where its cursor says. */
static inline enum described describe_wrongly(struct describing *describing, uint64_t offset,
                                              const char *reason)
{
    cursor_fail_at(&describing->cursor, offset, reason);
    describing->problem =
        (struct problem){describing->cursor.error_offset, describing->cursor.error};
    return DESCRIBED_WRONGLY;
}

/* Place for so many elements in an array of the description; what is in it stays. False: out of
 * memory. */
bool jd_reserve_rows(struct description *description, uint64_t count);
bool jd_reserve_functions(struct description *description, uint64_t count);
bool jd_reserve_calls(struct description *description, uint64_t count);
bool jd_reserve_ranges(struct description *description, uint64_t count);
bool jd_reserve_strings(struct description *description, uint64_t count);
/* Working memory: what was in it is lost. NULL: out of memory. */
uint32_t *jd_reserve_words(struct description *description, uint64_t count);
uint64_t *jd_reserve_keys(struct description *description, uint64_t count);
void jd_sort_keys(uint64_t *keys, uint64_t count);

/* `count` NUL-terminated strings are appended to the description's. */
enum described jd_describe_strings(struct describing *describing, struct cursor *cursor,
                                   uint64_t count, const char *error);

/* Sorts the rows by offset; of several at one offset the last stays. */
bool jd_sort_rows(struct description *description);

/* Sorts each call's ranges, joins those that touch, and checks that calls are nested as they should
 * be. */
enum described jd_describe_ranges(struct describing *describing);

#endif
