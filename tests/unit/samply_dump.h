/*
 * What the tests of tiers and of embedded sources share: small dumps, and their records one after
 * the other.
 */
#ifndef SAMPLY_DUMP_H
#define SAMPLY_DUMP_H

#include "expected.h"
#include "temporary.h"

#include "jitdump.h"

#include <stdbool.h>

static inline struct jitdump *open_dump(enum jitdump_dialect dialect, uint32_t flags)
{
    const struct jitdump_options options = {.struct_size = sizeof(options),
                                            .dialect = dialect,
                                            .flags = flags,
                                            .directory = directory};
    struct jitdump *dump;
    assert_int_equal(jitdump_open(&dump, &options), 0);
    return dump;
}

static inline void load_line(struct jitdump *dump, uint32_t tier, const char *file)
{
    const struct jitdump_line line = {0x1000, 7, 1, file};
    const struct jitdump_code code = {.struct_size = sizeof(code),
                                      .tier = tier,
                                      .name = "f",
                                      .code_addr = 0x1000,
                                      .code_size = 4,
                                      .code_bytes = "code",
                                      .lines = file != NULL ? &line : NULL,
                                      .line_count = file != NULL};
    assert_int_equal(jitdump_load(dump, &code, NULL), 0);
}

/* The record that begins at *at; *at moves behind it. Its time is set to 0. */
static inline struct expected next_record(const struct contents *contents, size_t *at)
{
    uint32_t size;
    assert_true(*at + 16 <= contents->size);
    memcpy(&size, contents->bytes + *at + 4, sizeof(size));
    assert_true(*at + size <= contents->size);
    struct expected record = {.size = 0};
    assert_true(size <= sizeof(record.bytes));
    bytes(&record, contents->bytes + *at, size);
    memset(record.bytes + 8, 0, 8);
    *at += size;
    return record;
}

static inline void assert_next(const struct contents *contents, size_t *at,
                        const struct expected *expected)
{
    const struct expected record = next_record(contents, at);
    assert_int_equal(record.size, expected->size);
    assert_memory_equal(record.bytes, expected->bytes, expected->size);
}

/* The name in the JIT_CODE_LOAD that begins at *at. */
static inline void assert_load(const struct contents *contents, size_t *at, const char *name)
{
    const struct expected record = next_record(contents, at);
    assert_memory_equal(record.bytes, "\0\0\0\0", 4);
    assert_int_equal(record.size, 56 + strlen(name) + 1 + 4);
    assert_string_equal((const char *)record.bytes + 56, name);
}

enum { HEADER = 40, CLOSE = 16 };

static inline struct expected tier_record(void)
{
    /* Header 16, two numbers, a name of 9 bytes and 3 of padding. */
    struct expected expected = {.size = 0};
    u32(&expected, 827346260);
    u32(&expected, 36);
    u64(&expected, 0);
    u32(&expected, 2);
    u32(&expected, 5);
    bytes(&expected, "Baseline\0\0\0", 12);
    return expected;
}

static inline struct expected source_record(void)
{
    /* Header 16, two sizes, a path of 4 bytes, 5 of text and 3 of padding. */
    struct expected expected = {.size = 0};
    u32(&expected, 827346261);
    u32(&expected, 36);
    u64(&expected, 0);
    u32(&expected, 4);
    u32(&expected, 5);
    bytes(&expected, "a/b\0push\n\0\0", 12);
    return expected;
}

#endif
