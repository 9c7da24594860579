/* Text that comes from who knows where, a script's function names, a path in the environment,
 * and what it can't do: forge a line, leave the directory, become another record. */
#define _GNU_SOURCE
#include "../../unit/child.h"

#include "jitdump.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct jitdump *open_with(uint32_t flags, uint32_t dialect)
{
    const struct jitdump_options options = {.struct_size = sizeof(options),
                                            .flags = flags,
                                            .dialect = dialect,
                                            .directory = directory};
    struct jitdump *dump;
    assert_int_equal(jitdump_open(&dump, &options), 0);
    return dump;
}

#define MEGABYTE (1 << 20)

/* The last one is a megabyte of 'm'. */
static const char *hostile[] = {
    "one\n2000 10 forged",
    "\n\n",
    "carriage\rreturn",
    "\x1b[31mred\x1b]0;title\x07",
    "\x7f\x01\x02 tab\t",
    "\xff\xfe not UTF-8 \xc3(",
    "\xff",
    "\xe2\x80\xae\xc2\x85\xe2\x80\xa8",
    "%s%n%d",
    "../../../../etc/passwd",
    "..",
    ".",
    "/",
    " ",
    NULL,
};
#define HOSTILE (sizeof(hostile) / sizeof(hostile[0]))

static int make_megabyte(void **state)
{
    (void)state;
    char *name = malloc(MEGABYTE + 1);
    memset(name, 'm', MEGABYTE);
    name[MEGABYTE] = '\0';
    hostile[HOSTILE - 1] = name;
    return 0;
}

static int free_megabyte(void **state)
{
    (void)state;
    free((char *)hostile[HOSTILE - 1]);
    return 0;
}

/* How often the text stands in the bytes as a whole string: with a NUL behind it. */
static int count(struct contents contents, const char *text)
{
    const size_t size = strlen(text) + 1;
    int found = 0;
    const unsigned char *at = contents.bytes, *end = at + contents.size;
    while ((at = memmem(at, (size_t)(end - at), text, size)) != NULL) {
        found++;
        at++;
    }
    return found;
}

static struct contents close_and_read(struct jitdump *dump)
{
    const char *path = strdup(jitdump_path(dump));
    assert_int_equal(jitdump_close(dump), 0);
    struct contents contents = read_file(path);
    free((char *)path);
    return contents;
}

static int load(struct jitdump *dump, const char *name, uint32_t tier, const char *file)
{
    const struct jitdump_line line = {0x1000, 1, 1, file};
    const struct jitdump_code code = {.struct_size = sizeof(code),
                                      .tier = tier,
                                      .name = name,
                                      .code_addr = 0x1000,
                                      .code_size = 4,
                                      .code_bytes = "code",
                                      .lines = &line,
                                      .line_count = file != NULL};
    return jitdump_load(dump, &code, NULL);
}

/* In the dump all text is as it was given. */
static void the_dump_has_it_unchanged(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOSTILE; i++) {
        struct jitdump *dump = open_with(JITDUMP_TIER_RECORDS, JITDUMP_DIALECT_SAMPLY_2023);
        uint32_t tier;
        assert_int_equal(jitdump_add_tier(dump, hostile[i], 0, hostile[i], &tier), 0);
        assert_int_equal(load(dump, hostile[i], 0, hostile[i]), 0);
        assert_int_equal(load(dump, "named", tier, NULL), 0);
        assert_int_equal(jitdump_embed_source(dump, hostile[i], "text", 4), 0);
        struct contents contents = close_and_read(dump);
        char *prefixed = malloc(strlen(hostile[i]) + sizeof("named"));
        assert_non_null(prefixed);
        strcat(strcpy(prefixed, hostile[i]), "named");
        assert_int_equal(count(contents, prefixed), 1);
        /* Function, file in two entries, tier, source. A single character also ends other texts,
         * and some process ids have the bytes of a short one: 11822 is "..". */
        const uint32_t pid = (uint32_t)getpid();
        const size_t size = strlen(hostile[i]) + 1;
        const bool is_elsewhere = size == 2 || memmem(&pid, sizeof(pid), hostile[i], size) != NULL;
        const int found = count(contents, hostile[i]);
        assert_true(found == 5 || (found > 5 && is_elsewhere));
        free(prefixed);
        free(contents.bytes);
    }
}

static int count_char(struct contents contents, char wanted)
{
    int found = 0;
    for (size_t i = 0; i < contents.size; i++)
        found += contents.bytes[i] == (unsigned char)wanted;
    return found;
}

/* In the perf map each load is one line, whatever its name and its tier's prefix. */
static void the_perf_map_has_a_line_for_each(void **state)
{
    (void)state;
    const char *path = perf_map_path(getpid());
    unlink(path);
    struct jitdump *dump = open_with(JITDUMP_PERF_MAP, 0);
    for (size_t i = 0; i < HOSTILE; i++) {
        uint32_t tier;
        assert_int_equal(jitdump_add_tier(dump, "tier", 0, hostile[i], &tier), 0);
        assert_int_equal(load(dump, hostile[i], tier, NULL), 0);
    }
    assert_int_equal(jitdump_close(dump), 0);
    struct contents contents = read_file(path);
    assert_int_equal(count_char(contents, '\n'), HOSTILE);
    contents.bytes[contents.size] = '\0';
    char *rest = (char *)contents.bytes;
    for (size_t i = 0; i < HOSTILE; i++) {
        const char *line = strsep(&rest, "\n");
        assert_memory_equal(line, "1000 4 ", 7);
        assert_true(strlen(line) < 1024);
        for (const char *c = line; *c != '\0'; c++)
            assert_true((unsigned char)*c >= ' ' && *c != '\x7f');
    }
    free(contents.bytes);
    unlink(path);
}

/* Of a source's path only what is harmless gets into the name of its file. */
static void source_files_stay_in_their_directory(void **state)
{
    (void)state;
    struct jitdump *dump = open_with(JITDUMP_SOURCE_FILES, 0);
    for (size_t i = 0; i < HOSTILE; i++)
        assert_int_equal(jitdump_embed_source(dump, hostile[i], "text", 4), 0);
    assert_int_equal(jitdump_close(dump), 0);
    DIR *opened = opendir(directory);
    size_t sources = 0;
    for (struct dirent *entry; (entry = readdir(opened)) != NULL;) {
        unsigned pid, number;
        if (sscanf(entry->d_name, "jit-%u-%u-", &pid, &number) != 2)
            continue;
        for (const char *c = entry->d_name; *c != '\0'; c++)
            assert_true(isalnum((unsigned char)*c) || strchr("._-", *c) != NULL);
        struct stat status;
        assert_int_equal(fstatat(dirfd(opened), entry->d_name, &status, 0), 0);
        assert_int_equal(status.st_mode, S_IFREG | 0600);
        assert_int_equal(status.st_size, 4);
        sources++;
    }
    closedir(opened);
    assert_int_equal(sources, HOSTILE);
}

static void an_error_message_is_one_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOSTILE; i++) {
        char *path = NULL;
        assert_true(asprintf(&path, "%s/missing%s/missing", directory, hostile[i]) > 0);
        char message[4096];
        const struct jitdump_options options = {.struct_size = sizeof(options),
                                                .directory = path,
                                                .error_message = message,
                                                .error_message_size = sizeof(message)};
        struct jitdump *dump;
        assert_int_not_equal(jitdump_open(&dump, &options), 0);
        assert_non_null(strstr(message, "/missing"));
        for (const char *c = message; *c != '\0'; c++)
            assert_true((unsigned char)*c >= ' ' && *c != '\x7f');
        free(path);
    }
}

static void assert_private(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode, S_IFREG | 0600);
}

/* All files of the process of that pid. */
static void assert_all_private(pid_t pid)
{
    assert_private(dump_path(directory, pid));
    assert_private(perf_map_path(pid));
    unlink(perf_map_path(pid));
}

static void files_are_private_whatever_the_umask(void **state)
{
    (void)state;
    static const mode_t masks[] = {0, 022, 077, 0777};
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        const mode_t before = umask(masks[i]);
        struct jitdump *dump = open_with(JITDUMP_PERF_MAP | JITDUMP_SOURCE_FILES, 0);
        assert_int_equal(jitdump_embed_source(dump, "a.js", "text", 4), 0);
        const pid_t child = fork();
        if (child == 0)
            _exit(load(dump, "of the child", 0, NULL) != 0);
        assert_child_succeeds(child);
        umask(before);
        assert_int_equal(jitdump_close(dump), 0);
        assert_all_private(getpid());
        assert_all_private(child);
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%s/jit-%d-0-a.js", directory, (int)getpid());
        assert_private(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(the_dump_has_it_unchanged),
        unit_test_in_directory(the_perf_map_has_a_line_for_each),
        unit_test_in_directory(source_files_stay_in_their_directory),
        unit_test_in_directory(an_error_message_is_one_line),
        unit_test_in_directory(files_are_private_whatever_the_umask),
    };
    return cmocka_run_group_tests(tests, make_megabyte, free_megabyte);
}
