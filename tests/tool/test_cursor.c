/* The byte cursor: both byte orders, the end, and LEB128 numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/cursor.h"

static struct cursor over(const void *bytes, size_t size)
{
    return (struct cursor){.at = bytes, .end = (const unsigned char *)bytes + size, .base = bytes};
}

static void test_both_orders(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const uint16_t one = 1;
    unsigned char low;
    memcpy(&low, &one, 1);
    for (int big = 0; big < 2; big++) {
        struct cursor cursor = over(bytes, sizeof(bytes));
        cursor.swapped = (low == 1) == (big == 1);
        assert_int_equal(cursor_u8(&cursor, "x"), 0);
        assert_int_equal(cursor_u16(&cursor, "x"), big ? 0x0102 : 0x0201);
        assert_int_equal(cursor_u32(&cursor, "x"), big ? 0x03040506 : 0x06050403);
        assert_int_equal(cursor_offset(&cursor), 7);
        assert_int_equal(cursor_u64(&cursor, "x"),
                         big ? UINT64_C(0x0708090a0b0c0d0e) : UINT64_C(0x0e0d0c0b0a090807));
        assert_int_equal(cursor_left(&cursor), 1);
        assert_null(cursor.error);
    }
}

static void test_first_error_stays(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {1, 2, 3, 4, 5, 6};
    struct cursor cursor = over(bytes, sizeof(bytes));
    cursor_u32(&cursor, "first");
    assert_int_equal(cursor_u32(&cursor, "second"), 0);
    assert_int_equal(cursor_u8(&cursor, "third"), 0);
    assert_null(cursor_take(&cursor, 1, "fourth"));
    assert_null(cursor_string(&cursor, "fifth").data);
    assert_int_equal(jd_cursor_uleb128(&cursor, "sixth"), 0);
    assert_string_equal(cursor.error, "second");
    assert_int_equal(cursor.error_offset, 4);
    assert_int_equal(cursor_left(&cursor), 0);
}

static void test_strings(void **state)
{
    (void)state;
    struct cursor cursor = over("ab\0\0cd", 6);
    struct span string = cursor_string(&cursor, "x");
    assert_int_equal(string.size, 2);
    assert_memory_equal(string.data, "ab", 2);
    assert_int_equal(cursor_string(&cursor, "x").size, 0);
    assert_null(cursor.error);
    cursor_string(&cursor, "no end");
    assert_string_equal(cursor.error, "no end");
    assert_int_equal(cursor.error_offset, 4);
}

/* The numbers of DWARF 4, figures 22 and 23, and the ends of 64 bits. */
static void test_leb128(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        uint64_t value;
    } unsigned_numbers[] = {
        {"\x02", 1, 2},
        {"\x7f", 1, 127},
        {"\x80\x01", 2, 128},
        {"\x81\x01", 2, 129},
        {"\x82\x01", 2, 130},
        {"\xb9\x64", 2, 12857},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, UINT64_MAX},
        {"\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 12, 1},
    };
    static const struct {
        const char *bytes;
        size_t size;
        int64_t value;
    } signed_numbers[] = {
        {"\x02", 1, 2},
        {"\x7e", 1, -2},
        {"\xff\x00", 2, 127},
        {"\x81\x7f", 2, -127},
        {"\x80\x01", 2, 128},
        {"\x80\x7f", 2, -128},
        {"\x81\x01", 2, 129},
        {"\xff\x7e", 2, -129},
        {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10, INT64_MIN},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 10, INT64_MAX},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11, -1},
    };
    for (size_t i = 0; i < sizeof(unsigned_numbers) / sizeof(unsigned_numbers[0]); i++) {
        struct cursor cursor = over(unsigned_numbers[i].bytes, unsigned_numbers[i].size);
        assert_int_equal(jd_cursor_uleb128(&cursor, "x"), unsigned_numbers[i].value);
        assert_null(cursor.error);
        assert_int_equal(cursor_left(&cursor), 0);
    }
    for (size_t i = 0; i < sizeof(signed_numbers) / sizeof(signed_numbers[0]); i++) {
        struct cursor cursor = over(signed_numbers[i].bytes, signed_numbers[i].size);
        assert_true(jd_cursor_sleb128(&cursor, "x") == signed_numbers[i].value);
        assert_null(cursor.error);
        assert_int_equal(cursor_left(&cursor), 0);
    }
}

static void test_leb128_too_large(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } numbers[] = {
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10},
        {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11},
        {"\x80", 1},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct cursor cursor = over(numbers[i].bytes, numbers[i].size);
        assert_int_equal(jd_cursor_uleb128(&cursor, "too large"), 0);
        assert_string_equal(cursor.error, "too large");
        cursor = over(numbers[i].bytes, numbers[i].size);
        assert_true(jd_cursor_sleb128(&cursor, "too large") == 0);
        assert_string_equal(cursor.error, "too large");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_orders),      cmocka_unit_test(test_first_error_stays),
        cmocka_unit_test(test_strings),          cmocka_unit_test(test_leb128),
        cmocka_unit_test(test_leb128_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
