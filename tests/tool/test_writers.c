/* What the writers are made of: bytes, string tables, build ids. */
#include "writers/digest.h"
#include "writers/string_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_bytes(struct bytes *bytes, const char *expected, size_t size)
{
    assert_false(bytes->failed);
    assert_int_equal(bytes->size, size);
    assert_memory_equal(bytes->data, expected, size);
    bytes_free(bytes);
}

#define EXPECT_BYTES(bytes, text) expect_bytes(bytes, text, sizeof(text) - 1)

static void byte_orders(void **state)
{
    (void)state;
    struct bytes little = {.big_endian = false}, big = {.big_endian = true};
    for (unsigned count = 1; count <= 8; count++) {
        bytes_put(&little, UINT64_C(0x0102030405060708), count);
        bytes_put(&big, UINT64_C(0x0102030405060708), count);
    }
    EXPECT_BYTES(&little, "\x08" "\x08\x07" "\x08\x07\x06" "\x08\x07\x06\x05" "\x08\x07\x06\x05\x04"
                          "\x08\x07\x06\x05\x04\x03" "\x08\x07\x06\x05\x04\x03\x02"
                          "\x08\x07\x06\x05\x04\x03\x02\x01");
    EXPECT_BYTES(&big, "\x08" "\x07\x08" "\x06\x07\x08" "\x05\x06\x07\x08" "\x04\x05\x06\x07\x08"
                       "\x03\x04\x05\x06\x07\x08" "\x02\x03\x04\x05\x06\x07\x08"
                       "\x01\x02\x03\x04\x05\x06\x07\x08");
}

/* The examples of DWARF 5, section 7.6, and the limits. */
static void leb128(void **state)
{
    (void)state;
    struct bytes bytes = {.size = 0};
    bytes_uleb128(&bytes, 2);
    bytes_uleb128(&bytes, 127);
    bytes_uleb128(&bytes, 128);
    bytes_uleb128(&bytes, 12857);
    bytes_uleb128(&bytes, UINT64_MAX);
    EXPECT_BYTES(&bytes, "\x02\x7f\x80\x01\xb9\x64\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    bytes_sleb128(&bytes, 2);
    bytes_sleb128(&bytes, -2);
    bytes_sleb128(&bytes, 127);
    bytes_sleb128(&bytes, -127);
    bytes_sleb128(&bytes, -128);
    bytes_sleb128(&bytes, -129);
    bytes_sleb128(&bytes, INT64_MAX);
    bytes_sleb128(&bytes, INT64_MIN);
    EXPECT_BYTES(&bytes, "\x02\x7e\xff\x00\x81\x7f\x80\x7f\xff\x7e"
                         "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00"
                         "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f");
}

static void each_string_once(void **state)
{
    enum { COUNT = 20000 };
    static struct table_string found[COUNT];
    (void)state;
    struct string_table table;
    string_table_init(&table);
    assert_int_equal(string_table_add(&table, "", 0).offset, 0);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < COUNT; i++) {
            char text[32];
            const int length = snprintf(text, sizeof(text), "name%x", i);
            const struct table_string string = string_table_add(&table, text, (size_t)length);
            if (round == 0)
                found[i] = string;
            assert_int_equal(string.offset, found[i].offset);
            assert_int_equal(string.number, i + 1);
            assert_string_equal(table.bytes.data + string.offset, text);
        }
    }
    /* A string's beginning is another string. */
    assert_int_equal(string_table_add(&table, "name", 4).number, COUNT + 1);
    string_table_reset(&table);
    assert_int_equal(string_table_add(&table, "name1", 5).number, 1);
    string_table_free(&table);
}

static void digest(const void *bytes, size_t size, size_t piece, unsigned char id[DIGEST_SIZE])
{
    struct digest digest;
    digest_begin(&digest);
    for (size_t at = 0; at < size; at += piece)
        digest_add(&digest, (const unsigned char *)bytes + at, piece < size - at ? piece : size - at);
    digest_end(&digest, id);
}

/* All at once, and in pieces of each size. */
static void expect_hash(const void *bytes, size_t size, uint64_t expected)
{
    unsigned char first[DIGEST_SIZE], id[DIGEST_SIZE];
    uint64_t hash = 0;
    digest(bytes, size, size + 1, first);
    for (size_t i = 0; i < 8; i++)
        hash = hash << 8 | first[i];
    assert_true(hash == expected);
    assert_int_equal(first[DIGEST_SIZE - 2] << 8 | first[DIGEST_SIZE - 1], size);
    for (size_t piece = 1; piece <= size; piece++) {
        digest(bytes, size, piece, id);
        assert_memory_equal(id, first, DIGEST_SIZE);
    }
}

/* The hashes are those of the xxhsum program, seed 0. */
static void xxh64(void **state)
{
    (void)state;
    static const char fox[] = "The quick brown fox jumps over the lazy dog";
    unsigned char all[256];
    for (size_t i = 0; i < sizeof(all); i++)
        all[i] = (unsigned char)i;
    expect_hash("", 0, UINT64_C(0xef46db3751d8e999));
    expect_hash("abc", 3, UINT64_C(0x44bc2cf5ad770999));
    expect_hash("hello", 5, UINT64_C(0x26c7827d889f6da3));
    expect_hash(fox, sizeof(fox) - 1, UINT64_C(0x0b242d361fda71bc));
    expect_hash(all, sizeof(all), UINT64_C(0x1facbe8406cd904b));
}

/* Each bit of the contents changes about half of those of either hash, and not the same ones. */
static void each_bit_counts(void **state)
{
    (void)state;
    unsigned char bytes[77] = {0}, was[DIGEST_SIZE], id[DIGEST_SIZE];
    for (size_t size = 1; size <= sizeof(bytes); size += 4) {
        digest(bytes, size, size, was);
        for (size_t bit = 0; bit < 8 * size; bit++) {
            int changed[2] = {0, 0}, differ = 0;
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            digest(bytes, size, size, id);
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            for (size_t i = 0; i < 8; i++) {
                changed[0] += __builtin_popcount(id[i] ^ was[i]);
                changed[1] += __builtin_popcount(id[8 + i] ^ was[8 + i]);
                differ += id[i] != id[8 + i];
            }
            for (int half = 0; half < 2; half++)
                assert_in_range(changed[half], 8, 56);
            assert_true(differ > 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(byte_orders),
        cmocka_unit_test(leb128),
        cmocka_unit_test(each_string_once),
        cmocka_unit_test(xxh64),
        cmocka_unit_test(each_bit_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
