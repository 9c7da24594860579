/* What $JITDUMP asks for, and what JITDUMP_DEBUG says on standard error. */
#define _GNU_SOURCE
#include "temporary.h"

#include "jitdump.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int real_stderr;
static char said_path[PATH_MAX];

static int set_up(void **state)
{
    unsetenv("JITDUMP");
    unsetenv("JITDUMPDIR");
    unsetenv("JITDUMP_TRACK");
    make_temporary_directory(state);
    snprintf(said_path, sizeof(said_path), "%s/stderr", directory);
    real_stderr = dup(STDERR_FILENO);
    const int file = open(said_path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
    dup2(file, STDERR_FILENO);
    close(file);
    return chdir(directory);
}

static int tear_down(void **state)
{
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    unsetenv("JITDUMP");
    unsetenv("JITDUMPDIR");
    return remove_temporary_directory(state);
}

/* What was said since the last call; static. */
static const char *said(void)
{
    static char text[20000];
    struct contents file = read_file(said_path);
    assert_true(file.size < sizeof(text));
    memcpy(text, file.bytes, file.size);
    text[file.size] = '\0';
    free(file.bytes);
    assert_int_equal(truncate(said_path, 0), 0);
    return text;
}

static int lines_in(const char *text)
{
    int count = 0;
    for (; *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

static struct jitdump *open_by(const char *words)
{
    struct jitdump *dump;
    setenv("JITDUMP", words, 1);
    assert_int_equal(jitdump_open_from_environment(&dump, NULL), 0);
    assert_non_null(dump);
    return dump;
}

static struct jitdump_code code_named(const char *name)
{
    return (struct jitdump_code){.struct_size = sizeof(struct jitdump_code),
                                 .name = name,
                                 .code_addr = 0x1000,
                                 .code_size = 4,
                                 .code_bytes = "code"};
}

static void without_the_variable_nothing_happens(void **state)
{
    (void)state;
    static const char *const values[] = {NULL, "", "0"};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        if (values[i] != NULL)
            setenv("JITDUMP", values[i], 1);
        struct jitdump *dump = (struct jitdump *)(void *)said_path;
        errno = 99;
        assert_int_equal(jitdump_open_from_environment(&dump, NULL), 0);
        assert_null(dump);
        assert_int_equal(errno, 99);
        assert_int_equal(count_entries(directory), 1);
    }
    assert_int_equal(jitdump_open_from_environment(NULL, NULL), JITDUMP_ERROR_ARGUMENT);
    assert_string_equal(said(), "");
}

static void a_dump_is_opened_where_it_is_asked_for(void **state)
{
    (void)state;
    char other[PATH_MAX], words[PATH_MAX + 16];
    snprintf(other, sizeof(other), "%s/other", directory);
    mkdir(other, 0700);

    struct jitdump *dump = open_by("1");
    assert_string_equal(jitdump_path(dump), dump_path(directory, getpid()));
    jitdump_close(dump);

    snprintf(words, sizeof(words), "dir=%s", other);
    dump = open_by(words);
    assert_string_equal(jitdump_path(dump), dump_path(other, getpid()));
    jitdump_close(dump);

    setenv("JITDUMPDIR", other, 1);
    unlink(dump_path(other, getpid()));
    dump = open_by("1");
    assert_string_equal(jitdump_path(dump), dump_path(other, getpid()));
    jitdump_close(dump);
    assert_string_equal(said(), "");
}

static off_t size_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_size : -1;
}

/* What the words do is seen in the file, at the load or at the close. */
static void words_choose_the_options(void **state)
{
    (void)state;
    const struct jitdump_code code = code_named("f");
    const char *path = dump_path(directory, getpid());
    struct {
        const char *words;
        bool written_at_once;
        off_t left; /* -1: no file; 0: a whole one */
    } cases[] = {
        {"1", true, 0},
        {"flush=through", true, 0},
        {"flush=buffered", false, 0},
        {"flush=buffered,close=empty", false, 40},
        {"close=unlink,flush=buffered,1", false, -1},
        {"flush=buffered,flush=through,close=unlink,close=keep", true, 0},
        {"close=empty,close=unlink", true, -1},
        {"close=unlink,close=empty", true, 40},
        {"clock=mono,dialect=perf,lines=innermost,close=unlink", true, -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct jitdump *dump = open_by(cases[i].words);
        assert_int_equal(jitdump_load(dump, &code, NULL), 0);
        assert_int_equal(size_of(path) > 40, cases[i].written_at_once);
        assert_int_equal(jitdump_close(dump), 0);
        if (cases[i].left == 0)
            assert_true(size_of(path) > 40);
        else
            assert_int_equal(size_of(path), cases[i].left);
    }
    assert_string_equal(said(), "");
}

/* How large the dump may become: nothing that is asked for may be lost in the reading of it. */
static void sizes_are_read_to_the_byte(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        uint64_t limit;
    } cases[] = {{"limit=4096", 4096}, {"limit=5000", 5000}, {"limit=4K", 4096}, {"limit=1M", 1 << 20}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct jitdump *dump = open_by(cases[i].words);
        /* Raw records of 16 + 1008 bytes, as many as fit beside header and close, then of 17. */
        static const char payload[1008];
        int error = 0;
        uint64_t size = 40 + 16;
        while ((error = jitdump_append_raw(dump, 1000, payload, sizeof(payload))) == 0)
            size += 1024;
        assert_int_equal(error, JITDUMP_ERROR_SIZE_LIMIT);
        assert_true(size <= cases[i].limit && size + 1024 > cases[i].limit);
        jitdump_close(dump);
    }
}

static void bad_words_are_refused_by_name(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "yes", "2", "1,", ",", "0,1", "flush", "flush=", "flush=off", "Debug", "dir=", "limit=",
        "limit=0", "limit=4095", "limit=-4096", "limit=+4096", "limit= 4096", "limit=4096x",
        "limit=4KB", "limit=18446744073709551616", "limit=18014398509482000K", "dialect=2024",
        "clock=TSC", "perf-map=1", "close=", "/tmp", "debug ",
    };
    struct jitdump *dump;
    char message[2000], words[300];
    const struct jitdump_options options = {.struct_size = sizeof(options),
                                            .error_message = message,
                                            .error_message_size = sizeof(message)};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(words, sizeof(words), "perf-map,%s,close=unlink", bad[i]);
        setenv("JITDUMP", words, 1);
        assert_int_equal(jitdump_open_from_environment(&dump, &options), JITDUMP_ERROR_ENVIRONMENT);
        assert_null(dump);
        const char *first = strchr(bad[i], ',') == NULL ? bad[i] : *bad[i] == '0' ? "0" : "";
        snprintf(words, sizeof(words), "JITDUMP, at %s: ", first);
        assert_int_equal(strncmp(message, words, strlen(words)), 0);
        assert_string_equal(said(), "");
        /* Who can't be told by the runtime is told by the library. */
        assert_int_equal(jitdump_open_from_environment(&dump, NULL), JITDUMP_ERROR_ENVIRONMENT);
        const char *line = said();
        assert_int_equal(lines_in(line), 1);
        assert_non_null(strstr(line, words));
    }
    char *long_value = calloc(1, 10000);
    memset(long_value, 'x', 9999);
    setenv("JITDUMP", long_value, 1);
    assert_int_equal(jitdump_open_from_environment(&dump, &options), JITDUMP_ERROR_ENVIRONMENT);
    memcpy(long_value, "track=", 6);
    long_value[6 + 256] = '\0';
    setenv("JITDUMP", long_value, 1);
    assert_int_equal(jitdump_open_from_environment(&dump, &options), JITDUMP_ERROR_ENVIRONMENT);
    free(long_value);
    assert_int_equal(count_entries(directory), 1);
}

static void the_runtime_s_options_are_the_defaults(void **state)
{
    (void)state;
    char message[2000] = "?";
    struct jitdump_options options = {.struct_size = sizeof(options),
                                      .dialect = JITDUMP_DIALECT_SAMPLY_2023,
                                      .flags = JITDUMP_TIER_RECORDS | JITDUMP_UNLINK_AT_CLOSE,
                                      .directory = "/nonexistent",
                                      .error_message = message,
                                      .error_message_size = sizeof(message)};
    struct jitdump *dump;
    setenv("JITDUMP", "1", 1);
    assert_int_equal(jitdump_open_from_environment(&dump, &options),
                     JITDUMP_ERROR_DIRECTORY_MISSING);
    assert_null(dump);
    assert_non_null(strstr(message, "/nonexistent"));
    assert_string_equal(said(), "");

    setenv("JITDUMP", "dir=.", 1);
    assert_int_equal(jitdump_open_from_environment(&dump, &options), 0);
    assert_non_null(strstr(message, "JITDUMP_TIER_RECORDS"));
    jitdump_close(dump);
    assert_int_equal(count_entries(directory), 1);

    /* In another dialect the flag would be an error, which the user can't do anything about. */
    setenv("JITDUMP", "dir=.,dialect=2026,close=keep", 1);
    assert_int_equal(jitdump_open_from_environment(&dump, &options), 0);
    assert_string_equal(message, "");
    jitdump_close(dump);
    assert_int_equal(count_entries(directory), 2);

    /* Older and newer programs'. */
    options.struct_size = 32;
    options.dialect = 0;
    options.flags = JITDUMP_UNLINK_AT_CLOSE;
    setenv("JITDUMP", "1", 1);
    assert_int_equal(jitdump_open_from_environment(&dump, &options), 0);
    jitdump_close(dump);
    assert_int_equal(count_entries(directory), 1);
    options.struct_size = 8;
    assert_int_equal(jitdump_open_from_environment(&dump, &options), JITDUMP_ERROR_STRUCT_SIZE);
}

static void what_is_refused_is_said_once_each(void **state)
{
    (void)state;
    struct jitdump *dump = open_by("debug,limit=4K,close=unlink");
    char line[PATH_MAX + 100];
    snprintf(line, sizeof(line), "jitdump: %s is written\n", jitdump_path(dump));
    assert_string_equal(said(), line);

    struct jitdump_code code = code_named("good");
    uint64_t index;
    assert_int_equal(jitdump_load(dump, &code, &index), 0);
    assert_string_equal(said(), "");
    code = code_named("bad\nname\x1b");
    code.code_bytes = NULL;
    code.code_addr = 0;
    errno = 99;
    assert_int_equal(jitdump_load(dump, &code, &index), JITDUMP_ERROR_CODE_MISSING);
    assert_int_equal(errno, 99);
    snprintf(line, sizeof(line), "jitdump: jitdump_load of bad?name?: %s\n",
             jitdump_strerror(JITDUMP_ERROR_CODE_MISSING));
    assert_string_equal(said(), line);

    assert_int_equal(jitdump_load(dump, NULL, &index), JITDUMP_ERROR_ARGUMENT);
    assert_int_equal(jitdump_move(dump, 0, 1, 2, 3), JITDUMP_ERROR_CODE_INDEX);
    assert_int_equal(jitdump_append_raw(dump, 1, "x", 1), JITDUMP_ERROR_RECORD_ID);
    uint32_t tier;
    assert_int_equal(jitdump_add_tier(dump, "", 0, "p", &tier), JITDUMP_ERROR_TIER_NAME);
    assert_int_equal(jitdump_embed_source(dump, "path", NULL, 1), JITDUMP_ERROR_SOURCE_MISSING);
    const char *all = said();
    assert_int_equal(lines_in(all), 5);
    static const char *const calls[] = {"jitdump_load: ", "jitdump_move: ", "jitdump_append_raw: ",
                                        "jitdump_add_tier: ", "jitdump_embed_source of path: "};
    for (size_t i = 0; i < 5; i++)
        assert_non_null(strstr(all, calls[i]));

    /* A sticky error is what every call returns. */
    static const char much[5000];
    for (int i = 0; i < 10; i++)
        assert_int_equal(jitdump_append_raw(dump, 1000, much, sizeof(much)),
                         JITDUMP_ERROR_SIZE_LIMIT);
    assert_int_equal(lines_in(said()), 1);
    assert_int_equal(jitdump_close(dump), JITDUMP_ERROR_SIZE_LIMIT);
    assert_string_equal(said(), "");
}

static void a_dump_says_a_hundred_lines_at_most(void **state)
{
    (void)state;
    struct jitdump *dump = open_by("debug");
    for (int i = 0; i < 300; i++)
        jitdump_load(dump, NULL, NULL);
    const char *all = said();
    assert_int_equal(lines_in(all), 101);
    assert_non_null(strstr(all, "jitdump: that is enough"));
    jitdump_close(dump);
}

static void a_closed_standard_error_does_no_harm(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    /* By default SIGPIPE would end the process. */
    struct jitdump *dump = open_by("debug");
    assert_int_equal(jitdump_load(dump, NULL, NULL), JITDUMP_ERROR_ARGUMENT);
    close(STDERR_FILENO);
    assert_int_equal(jitdump_load(dump, NULL, NULL), JITDUMP_ERROR_ARGUMENT);
    assert_int_equal(jitdump_close(dump), 0);
    sigset_t pending;
    sigpending(&pending);
    assert_false(sigismember(&pending, SIGPIPE));
}

static void the_flag_alone_does_it_too(void **state)
{
    (void)state;
    const struct jitdump_options options = {.struct_size = sizeof(options), .flags = JITDUMP_DEBUG};
    struct jitdump *dump;
    assert_int_equal(jitdump_open(&dump, &options), 0);
    assert_string_equal(said(), "");
    assert_int_equal(jitdump_load(dump, NULL, NULL), JITDUMP_ERROR_ARGUMENT);
    assert_int_equal(lines_in(said()), 1);
    jitdump_close(dump);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_the_variable_nothing_happens),
        TEST(a_dump_is_opened_where_it_is_asked_for),
        TEST(words_choose_the_options),
        TEST(sizes_are_read_to_the_byte),
        TEST(bad_words_are_refused_by_name),
        TEST(the_runtime_s_options_are_the_defaults),
        TEST(what_is_refused_is_said_once_each),
        TEST(a_dump_says_a_hundred_lines_at_most),
        TEST(a_closed_standard_error_does_no_harm),
        TEST(the_flag_alone_does_it_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
