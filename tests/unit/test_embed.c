/* Embedded sources: what they add to the file and to the directory, in each dialect and, with tiers, in
 * the child of a fork; and every refusal. */
#define _GNU_SOURCE
#include "samply_dump.h"
#include "child.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void a_source_is_a_record_in_samply_s_dialects(void **state)
{
    (void)state;
    for (int dialect = JITDUMP_DIALECT_PERF; dialect <= JITDUMP_DIALECT_SAMPLY_2026; dialect++) {
        struct jitdump *dump = open_dump((enum jitdump_dialect)dialect, 0);
        assert_int_equal(jitdump_embed_source(dump, "a/b", "push\n", 5), 0);
        load_line(dump, 0, NULL);
        assert_int_equal(jitdump_close(dump), 0);
        struct contents contents = read_file(dump_path(directory, getpid()));
        size_t at = HEADER;
        if (dialect != JITDUMP_DIALECT_PERF) {
            const struct expected expected = source_record();
            assert_next(&contents, &at, &expected);
        }
        assert_load(&contents, &at, "f");
        free(contents.bytes);
    }
}

static void bad_sources_have_errors_of_their_own(void **state)
{
    (void)state;
    struct jitdump *dump = open_dump(JITDUMP_DIALECT_SAMPLY_2023, 0);
    assert_int_equal(jitdump_embed_source(dump, NULL, "t", 1), JITDUMP_ERROR_SOURCE_PATH);
    assert_int_equal(jitdump_embed_source(dump, "", "t", 1), JITDUMP_ERROR_SOURCE_PATH);
    assert_int_equal(jitdump_embed_source(dump, "p", NULL, 1), JITDUMP_ERROR_SOURCE_MISSING);
    assert_int_equal(jitdump_embed_source(dump, "p", "t", UINT64_C(1) << 32),
                     JITDUMP_ERROR_RECORD_SIZE);
    assert_int_equal(jitdump_flush(dump), 0);
    struct contents contents = read_file(jitdump_path(dump));
    assert_int_equal(contents.size, HEADER);
    free(contents.bytes);
    /* The path of one that was refused is free; an empty source is one. */
    assert_int_equal(jitdump_embed_source(dump, "p", NULL, 0), 0);
    assert_int_equal(jitdump_embed_source(dump, "p", "t", 1), JITDUMP_ERROR_SOURCE_TWICE);
    assert_int_equal(jitdump_close(dump), 0);

    dump = open_dump(JITDUMP_DIALECT_PERF, 0);
    assert_int_equal(jitdump_embed_source(dump, "p", "t", 1), 0);
    assert_int_equal(jitdump_embed_source(dump, "p", "t", 1), JITDUMP_ERROR_SOURCE_TWICE);
    assert_int_equal(jitdump_close(dump), 0);
}

/* How many files there are in the directory; those that begin with "jit-<pid>-" have the mode
 * 0600 and are regular. */
static int count_files(void)
{
    char prefix[32], path[PATH_MAX];
    const int length = snprintf(prefix, sizeof(prefix), "jit-%d-", (int)getpid());
    DIR *open = opendir(directory);
    assert_non_null(open);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(open)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        count++;
        if (strncmp(entry->d_name, prefix, (size_t)length) != 0)
            continue;
        struct stat status;
        snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
        assert_int_equal(lstat(path, &status), 0);
        assert_int_equal(status.st_mode, S_IFREG | 0600);
    }
    closedir(open);
    return count;
}

/* The first file that the JIT_CODE_DEBUG_INFO at *at names, and its text. */
static void assert_names_file(const struct contents *contents, size_t *at, const char *name,
                              const char *text)
{
    const struct expected record = next_record(contents, at);
    assert_memory_equal(record.bytes, "\2\0\0\0", 4);
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/jit-%d-%s", directory, (int)getpid(), name);
    assert_string_equal((const char *)record.bytes + 48, path);
    struct contents written = read_file(path);
    assert_int_equal(written.size, strlen(text));
    assert_memory_equal(written.bytes, text, written.size);
    free(written.bytes);
}

static void sources_can_be_files_that_the_lines_name(void **state)
{
    (void)state;
    static const struct {
        const char *path, *file;
    } sources[] = {
        {"f.bytecode", "0-f.bytecode"},
        {"other/f.bytecode", "1-f.bytecode"}, /* another source of the same name */
        {"../../etc/passwd", "2-passwd"},
        {"..", "3-.."},
        {"dir/", "4-"},
        {"eval:1 'a\nb'\xc3\xa4", "5-eval_1__a_b___"},
        /* Of a name of 73 bytes the last 63. */
        {"/1234567890123456789012345678901234567890123456789012345678901234567890.ir",
         "6-123456789012345678901234567890123456789012345678901234567890.ir"},
    };
    const int count = (int)(sizeof(sources) / sizeof(sources[0]));
    struct jitdump *dump = open_dump(JITDUMP_DIALECT_PERF, JITDUMP_SOURCE_FILES);
    for (int i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof(text), "text %d\n", i);
        assert_int_equal(jitdump_embed_source(dump, sources[i].path, text, strlen(text)), 0);
        load_line(dump, 0, sources[i].path);
    }
    load_line(dump, 0, "of a file.js");
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(count_files(), 1 + count);

    struct contents contents = read_file(dump_path(directory, getpid()));
    size_t at = HEADER;
    for (int i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof(text), "text %d\n", i);
        assert_names_file(&contents, &at, sources[i].file, text);
        assert_load(&contents, &at, "f");
    }
    const struct expected record = next_record(&contents, &at);
    assert_string_equal((const char *)record.bytes + 48, "of a file.js");
    free(contents.bytes);
}

/* A samply that reads them asks for the file that they name. */
static void the_inline_records_name_the_file_too(void **state)
{
    (void)state;
    for (int dialect = JITDUMP_DIALECT_SAMPLY_2023; dialect <= JITDUMP_DIALECT_SAMPLY_2026;
         dialect++) {
        struct jitdump *dump = open_dump((enum jitdump_dialect)dialect, JITDUMP_SOURCE_FILES);
        assert_int_equal(jitdump_embed_source(dump, "a.ir", "text", 4), 0);
        const struct jitdump_function functions[] = {{"g", "a.ir", 1, 1, 0, 0, 0, 0},
                                                     {"h", "b.js", 1, 1, 0, 0, 0, 0}};
        const struct jitdump_position positions[] = {{0, 3, 1, JITDUMP_NONE}, {1, 4, 1, 0}};
        const struct jitdump_offset offsets[] = {{0, 0}, {1, 1}};
        const struct jitdump_track track = {sizeof(track), 0, "ir",    functions, 2,
                                            positions,     2, offsets, 2};
        const struct jitdump_code code = {.struct_size = sizeof(code),
                                          .name = "f",
                                          .code_addr = 0x1000,
                                          .code_size = 4,
                                          .code_bytes = "code",
                                          .tracks = &track,
                                          .track_count = 1};
        assert_int_equal(jitdump_load(dump, &code, NULL), 0);
        assert_int_equal(jitdump_close(dump), 0);
        struct contents contents = read_file(dump_path(directory, getpid()));
        size_t at = HEADER;
        next_record(&contents, &at);
        assert_names_file(&contents, &at, "0-a.ir", "text");
        /* Of the source that is in no file, and of the one that is in its own. */
        const struct expected record = next_record(&contents, &at);
        struct expected file = {.size = 0};
        file.size = (size_t)snprintf((char *)file.bytes, sizeof(file.bytes), "%s/jit-%d-0-a.ir",
                                     directory, (int)getpid()) + 1;
        assert_non_null(memmem(record.bytes, record.size, file.bytes, file.size));
        assert_non_null(memmem(record.bytes, record.size, "b.js", 5));
        assert_null(memmem(record.bytes, record.size, "\0a.ir", 6));
        assert_load(&contents, &at, "f");
        free(contents.bytes);
    }
}

static void what_is_in_a_file_s_place_is_left_alone(void **state)
{
    (void)state;
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/jit-%d-0-a", directory, (int)getpid());
    assert_int_equal(symlink("elsewhere", path), 0);
    struct jitdump *dump = open_dump(JITDUMP_DIALECT_SAMPLY_2023, JITDUMP_SOURCE_FILES);
    assert_int_equal(jitdump_embed_source(dump, "a", "text", 4), JITDUMP_ERROR_SOURCE_FILE);
    assert_int_equal(jitdump_flush(dump), 0);
    struct contents contents = read_file(jitdump_path(dump));
    assert_int_equal(contents.size, HEADER);
    free(contents.bytes);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(jitdump_embed_source(dump, "a", "text", 4), 0);
    assert_int_equal(jitdump_close(dump), 0);
}

static void files_go_with_the_dump_if_it_goes(void **state)
{
    (void)state;
    struct jitdump *dump =
        open_dump(JITDUMP_DIALECT_PERF, JITDUMP_SOURCE_FILES | JITDUMP_UNLINK_AT_CLOSE);
    assert_int_equal(jitdump_embed_source(dump, "a", "text", 4), 0);
    assert_int_equal(jitdump_embed_source(dump, "b", "text", 4), 0);
    assert_int_equal(count_files(), 3);
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(count_files(), 0);
}

static void many_sources_are_found(void **state)
{
    (void)state;
    struct jitdump *dump = open_dump(JITDUMP_DIALECT_PERF, JITDUMP_SOURCE_FILES);
    char path[32], file[64];
    for (int i = 0; i < 100; i++) {
        snprintf(path, sizeof(path), "source %d", i);
        assert_int_equal(jitdump_embed_source(dump, path, path, strlen(path)), 0);
    }
    for (int i = 0; i < 100; i++) {
        snprintf(path, sizeof(path), "source %d", i);
        assert_int_equal(jitdump_embed_source(dump, path, "", 0), JITDUMP_ERROR_SOURCE_TWICE);
        load_line(dump, 0, path);
    }
    assert_int_equal(jitdump_close(dump), 0);
    struct contents contents = read_file(dump_path(directory, getpid()));
    size_t at = HEADER;
    for (int i = 0; i < 100; i++) {
        snprintf(path, sizeof(path), "source %d", i);
        snprintf(file, sizeof(file), "%d-source_%d", i, i);
        assert_names_file(&contents, &at, file, path);
        assert_load(&contents, &at, "f");
    }
    free(contents.bytes);
}

/* The child's dump is a file that stands for itself: tiers and sources are there too. The files
 * of sources are the parent's, and stay when the child is done. */
static void a_child_has_its_parent_s_tiers_and_sources(void **state)
{
    (void)state;
    struct jitdump *dump = open_dump(JITDUMP_DIALECT_SAMPLY_2023,
                                     JITDUMP_SOURCE_FILES | JITDUMP_UNLINK_AT_CLOSE |
                                         JITDUMP_TIER_RECORDS);
    uint32_t tier;
    assert_int_equal(jitdump_add_tier(dump, "Ion", 0, "Ion: ", &tier), 0);
    assert_int_equal(jitdump_add_tier(dump, "Baseline", JITDUMP_COLOR_BLUE, NULL, &tier), 0);
    assert_int_equal(jitdump_embed_source(dump, "a/b", "push\n", 5), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        load_line(dump, tier, "a/b");
        char kept[PATH_MAX];
        snprintf(kept, sizeof(kept), "%s/kept", directory);
        if (jitdump_embed_source(dump, "a/b", "", 0) != JITDUMP_ERROR_SOURCE_TWICE ||
            jitdump_embed_source(dump, "of the child", "", 0) != 0 ||
            link(jitdump_path(dump), kept) != 0 || jitdump_close(dump) != 0)
            _exit(1);
        _exit(0);
    }
    assert_child_succeeds(child);
    /* The parent's dump and source, and the child's kept dump; the child's own source is gone. */
    assert_int_equal(count_files(), 3);

    char kept[PATH_MAX];
    snprintf(kept, sizeof(kept), "%s/kept", directory);
    struct contents contents = read_file(kept);
    size_t at = HEADER;
    struct expected expected = source_record();
    assert_next(&contents, &at, &expected);
    assert_names_file(&contents, &at, "0-b", "push\n");
    expected = tier_record();
    assert_next(&contents, &at, &expected);
    assert_load(&contents, &at, "f");
    free(contents.bytes);
    unlink(kept);
    assert_int_equal(jitdump_close(dump), 0);
    assert_int_equal(count_files(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(a_source_is_a_record_in_samply_s_dialects),
        unit_test_in_directory(bad_sources_have_errors_of_their_own),
        unit_test_in_directory(sources_can_be_files_that_the_lines_name),
        unit_test_in_directory(the_inline_records_name_the_file_too),
        unit_test_in_directory(what_is_in_a_file_s_place_is_left_alone),
        unit_test_in_directory(files_go_with_the_dump_if_it_goes),
        unit_test_in_directory(many_sources_are_found),
        unit_test_in_directory(a_child_has_its_parent_s_tiers_and_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
