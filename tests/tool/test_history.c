/*
 * Dumps cut off at every byte, and with every byte changed: what is read of them is what was read of
 * the whole, as far as it goes, and nothing is read outside of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reader/read_description.h"
#include "reader/read_history.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *corpus;

/* A copy that ends where the memory ends, for address sanitizers. */
static struct mapped_file copy_of(const unsigned char *bytes, size_t size)
{
    unsigned char *const copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    return (struct mapped_file){.data = copy, .size = size};
}

static void describe_all(const struct history *history)
{
    struct description description = {0};
    for (uint32_t i = 0; i < history->piece_count; i++)
        assert_true(jd_description_read(&description, history, &history->pieces[i], NULL));
    jd_description_free(&description);
}

static void cut(const struct mapped_file *whole, const struct history *expected)
{
    uint32_t pieces = 0;
    for (size_t size = 0; size <= whole->size; size++) {
        struct mapped_file file = copy_of(whole->data, size);
        struct history history;
        const enum history_error error = jd_history_read(&history, &file, NULL);
        if (size < expected->reader.header.total_size) {
            assert_int_equal(error, HISTORY_NO_DUMP);
            assert_non_null(history.reader.reason);
        } else {
            assert_int_equal(error, HISTORY_OK);
            while (pieces < expected->piece_count &&
                   expected->pieces[pieces].code + expected->pieces[pieces].code_size <=
                       whole->data + size)
                pieces++;
            assert_int_equal(history.piece_count, pieces);
            assert_true(history.reader.offset <= size);
            assert_int_equal(history.reader.end,
                             history.reader.offset == size ? DUMP_ENDS_WHOLE : DUMP_CUT_OFF);
            describe_all(&history);
        }
        jd_history_free(&history);
        free((void *)(uintptr_t)file.data);
    }
}

static void change(const struct mapped_file *whole)
{
    for (size_t at = 0; at < whole->size; at++) {
        struct mapped_file file = copy_of(whole->data, whole->size);
        unsigned char *const byte = (unsigned char *)(uintptr_t)file.data + at;
        static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
        for (size_t i = 0; i < sizeof(values); i++) {
            *byte = values[i];
            struct history history;
            if (jd_history_read(&history, &file, NULL) == HISTORY_OK)
                describe_all(&history);
            jd_history_free(&history);
        }
        free((void *)(uintptr_t)file.data);
    }
}

static void for_each_dump(void (*test)(const struct mapped_file *, const struct history *))
{
    struct dirent **entries;
    const int count = scandir(corpus, &entries, NULL, alphasort);
    assert_true(count > 2);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", corpus, entries[i]->d_name);
        struct mapped_file file;
        if (entries[i]->d_name[0] != '.' && jd_mapped_file_open(&file, path) == 0) {
            struct history history;
            if (jd_history_read(&history, &file, NULL) == HISTORY_OK &&
                history.reader.end == DUMP_ENDS_WHOLE)
                test(&file, &history);
            jd_history_free(&history);
            jd_mapped_file_close(&file);
        }
        free(entries[i]);
    }
    free(entries);
}

static void test_cut_off(void **state)
{
    (void)state;
    for_each_dump(cut);
}

static void changed(const struct mapped_file *file, const struct history *history)
{
    (void)history;
    change(file);
}

static void test_changed(void **state)
{
    (void)state;
    for_each_dump(changed);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
        return 2;
    }
    corpus = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cut_off),
                                       cmocka_unit_test(test_changed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
