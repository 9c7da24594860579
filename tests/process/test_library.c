/* The library loaded and unloaded, and several copies of it in one process: the one that is linked
 * into this program, the shared one, and files that are copies of that. */
#define _GNU_SOURCE
#include "life.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

/* Of one loaded copy. */
struct library {
    void *handle;
    int (*open)(struct jitdump **, const struct jitdump_options *);
    int (*load)(struct jitdump *, const struct jitdump_code *, uint64_t *);
    int (*close)(struct jitdump *);
};

static const char *shared_library;

static struct library bind_all(void *handle)
{
    if (handle == NULL)
        fail_msg("%s", dlerror());
    struct library library = {.handle = handle};
    *(void **)&library.open = dlsym(handle, "jitdump_open");
    *(void **)&library.load = dlsym(handle, "jitdump_load");
    *(void **)&library.close = dlsym(handle, "jitdump_close");
    assert_true(library.open != NULL && library.load != NULL && library.close != NULL);
    return library;
}

static struct library load_library(const char *path)
{
    return bind_all(dlopen(path, RTLD_NOW | RTLD_LOCAL));
}

static struct jitdump *open_in(const struct library *library, const char *where, uint32_t mode,
                               uint32_t flags)
{
    const struct jitdump_options options = {.struct_size = sizeof(options),
                                            .flags = flags,
                                            .flush_mode = mode,
                                            .flush_interval_ns = UINT64_C(3600000000000),
                                            .directory = where};
    struct jitdump *dump;
    library->open(&dump, &options);
    return dump;
}

static int load_in(const struct library *library, struct jitdump *dump, const char *name)
{
    const struct jitdump_code code = {
        .struct_size = sizeof(code), .name = name, .code_addr = 0x1000};
    return library->load(dump, &code, NULL);
}

static bool is_mapped(void)
{
    return count_mappings(shared_library, "") != 0;
}

static void assert_forks_well(void)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_child_succeeds(child);
}

/* Whether musl, whose dlclose() keeps everything, or a sanitizer has it otherwise. */
static bool is_unloaded_by_dlclose(void)
{
    struct library library = load_library(shared_library);
    dlclose(library.handle);
    return !is_mapped();
}

/* With a dump that is closed before, or left open: then it is flushed, and its thread ended. What
 * the library has told the C library, of forks and exit, goes with it. */
static void loaded_and_unloaded_again_and_again(void **state)
{
    (void)state;
    if (!is_unloaded_by_dlclose()) {
        print_message("skipped: dlclose() unloads nothing here\n");
        skip();
    }
    int descriptors = 0;
    for (int i = 0; i < 120; i++) {
        const bool left_open = i >= 60;
        struct library library = load_library(shared_library);
        /* A dump that is left open keeps its name. */
        char where[PATH_MAX];
        snprintf(where, sizeof(where), "%s/%d", directory, i);
        assert_int_equal(mkdir(where, 0700), 0);
        struct jitdump *dump = open_in(&library, where, (uint32_t)i % MODES, 0);
        assert_non_null(dump);
        assert_int_equal(load_in(&library, dump, "f"), 0);
        assert_forks_well();
        if (!left_open)
            assert_int_equal(library.close(dump), 0);
        assert_int_equal(dlclose(library.handle), 0);
        assert_false(is_mapped());
        assert_forks_well();
        wait_for_flushers(0);
        if (i == 0)
            descriptors = count_descriptors();
        assert_int_equal(count_descriptors(), descriptors + (left_open ? i - 59 : 0));
        const char *before = directory;
        directory = where;
        assert_int_equal(count_loads(getpid(), "f"), 1);
        assert_int_equal(is_closed(getpid()), !left_open);
        directory = before;
    }
}

static void copy_library(const char *to)
{
    const int in = open(shared_library, O_RDONLY | O_CLOEXEC);
    const int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    assert_true(in >= 0 && out >= 0);
    while (sendfile(out, in, NULL, 1 << 20) > 0)
        continue;
    close(in);
    close(out);
}

/* Each has its dump, also in the child, and they keep off each other's. */
static void use_copies(const struct library *copies, int count)
{
    char where[4][PATH_MAX];
    struct jitdump *dumps[4];
    for (int i = 0; i < count; i++) {
        snprintf(where[i], sizeof(where[i]), "%s/copy-%d", directory, i);
        assert_int_equal(mkdir(where[i], 0700), 0);
        dumps[i] = open_in(&copies[i], where[i], (uint32_t)i % MODES, 0);
        assert_non_null(dumps[i]);
        for (int j = 0; j < count; j++)
            assert_null(open_in(&copies[j], where[i], 0, 0)); /* in use */
    }
    for (int i = 0; i < count; i++)
        assert_int_equal(load_in(&copies[i], dumps[i], "of the parent"), 0);
    rest_before_fork();
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < count; i++)
            CHECK(load_in(&copies[i], dumps[i], "of the child") == 0);
        for (int i = 0; i < count; i++)
            CHECK(copies[i].close(dumps[i]) == 0);
        _exit(0);
    }
    assert_child_succeeds(child);
    const char *before = directory;
    for (int i = 0; i < count; i++) {
        assert_int_equal(copies[i].close(dumps[i]), 0);
        directory = where[i];
        assert_int_equal(count_loads(getpid(), "of the parent"), 1);
        assert_int_equal(count_loads(getpid(), "of the child"), 0);
        assert_int_equal(count_loads(child, "of the child"), 1);
        assert_int_equal(count_loads(child, "of the parent"), 0);
    }
    directory = before;
}

static void several_copies_in_one_process(void **state)
{
    (void)state;
    struct library copies[4] = {
        {.open = jitdump_open, .load = jitdump_load, .close = jitdump_close},
        load_library(shared_library),
    };
    for (int i = 2; i < 4; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%s/another-%d.so", directory, i);
        copy_library(path);
        copies[i] = load_library(path);
    }
    for (int i = 1; i < 4; i++) {
        assert_ptr_not_equal(copies[i].open, copies[0].open);
        assert_ptr_not_equal(copies[i].open, copies[i % 3 + 1].open);
    }
    use_copies(copies, 4);
    for (int i = 1; i < 4; i++)
        dlclose(copies[i].handle);
    assert_forks_well();
}

/* In a namespace of its own, with a C library of its own, which knows nothing of this one's forks:
 * the child must not use it, as after a bare clone call. */
static void a_copy_in_another_namespace(void **state)
{
    (void)state;
#if defined(__GLIBC__) && !SANITIZED
    struct library library = bind_all(dlmopen(LM_ID_NEWLM, shared_library, RTLD_NOW));
    for (uint32_t mode = 0; mode < MODES; mode++) {
        struct jitdump *dump = open_in(&library, directory, mode, 0);
        assert_non_null(dump);
        assert_int_equal(load_in(&library, dump, "f"), 0);
        assert_forks_well();
        assert_int_equal(library.close(dump), 0);
        assert_int_equal(count_loads(getpid(), "f"), 1);
    }
    dlclose(library.handle);
    assert_forks_well();
#else
    print_message("skipped: no namespaces here\n");
    skip();
#endif
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 1;
    shared_library = argv[1];
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(loaded_and_unloaded_again_and_again),
        unit_test_in_directory(several_copies_in_one_process),
        unit_test_in_directory(a_copy_in_another_namespace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
