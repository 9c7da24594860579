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

static void expect_digest(const void *bytes, size_t size, const char *expected)
{
    /* All at once, and in pieces of each size. */
    for (size_t piece = 1; piece <= size + 1; piece++) {
        struct digest digest = {.length = 0};
        unsigned char id[DIGEST_SIZE];
        char text[2 * DIGEST_SIZE + 1];
        for (size_t at = 0; at < size; at += piece)
            digest_add(&digest, (const unsigned char *)bytes + at,
                       piece < size - at ? piece : size - at);
        digest_end(&digest, id);
        for (size_t i = 0; i < DIGEST_SIZE; i++)
            snprintf(text + 2 * i, 3, "%02x", id[i]);
        assert_string_equal(text, expected);
    }
}

/* The hashes are those that other implementations publish for these texts, seed 0. */
static void murmur_hash_3(void **state)
{
    (void)state;
    static const char fox[] = "The quick brown fox jumps over the lazy dog";
    expect_digest("", 0, "00000000000000000000000000000000" "00000000");
    expect_digest(fox, sizeof(fox) - 1, "e34bbc7bbc071b6c7a433ca9c49a9347" "0000002b");
    expect_digest("hello", 5, "cbd8a7b341bd9b025b1e906a48ae1d19" "00000005");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(byte_orders),
        cmocka_unit_test(leb128),
        cmocka_unit_test(each_string_once),
        cmocka_unit_test(murmur_hash_3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
