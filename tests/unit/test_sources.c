/* The list of sources: who looks up while others are added gets an answer that stays. */
#include "temporary.h"

#include "encode/sources.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCES = 5000 };

static struct source *new_source(int i)
{
    char path[32], file[32];
    snprintf(path, sizeof(path), "path %d", i);
    snprintf(file, sizeof(file), "file %d", i);
    struct source *source = calloc(1, sizeof(*source) + strlen(path) + 1);
    assert_non_null(source);
    strcpy(source->path, path);
    source->file = calloc(1, strlen(file) + 1);
    assert_non_null(source->file);
    strcpy(source->file, file);
    return source;
}

static void fill(struct sources *sources)
{
    for (int i = 0; i < SOURCES; i++)
        assert_true(jd_sources_add(sources, new_source(i)));
}

static const struct source *find(const struct sources *sources, uint32_t count, const char *path)
{
    return jd_sources_find(sources, count, text_of(path, 0));
}

static void each_is_found_and_has_its_number(void **state)
{
    (void)state;
    struct sources sources = {.newest = NULL};
    assert_null(find(&sources, UINT32_MAX, "path 0"));
    fill(&sources);
    assert_int_equal(sources_count(&sources), SOURCES);
    for (int i = 0; i < SOURCES; i++) {
        char path[32], file[32];
        snprintf(path, sizeof(path), "path %d", i);
        snprintf(file, sizeof(file), "file %d", i);
        const struct source *source = find(&sources, SOURCES, path);
        assert_non_null(source);
        assert_int_equal(source->number, i);
        assert_string_equal(source->file, file);
        /* Among the sources before it, it is not. */
        assert_null(find(&sources, (uint32_t)i, path));
    }
    assert_null(find(&sources, SOURCES, "path"));
    jd_sources_free(&sources, 0);
}

/* As a load does it: the number of sources is taken once, and each look-up is made twice, for
 * the size and for the bytes. Returns how often the two differed. */
static void *look_up(void *argument)
{
    const struct sources *sources = argument;
    uintptr_t differences = 0;
    uint32_t count, i = 0;
    do {
        char path[32];
        snprintf(path, sizeof(path), "path %u", i++ % SOURCES);
        count = sources_count(sources);
        const struct source *first = find(sources, count, path);
        const struct source *second = find(sources, count, path);
        differences += first != second;
        differences += (first != NULL) != ((i - 1) % SOURCES < count);
    } while (count < SOURCES);
    return (void *)differences;
}

static void what_was_found_or_not_stays_so_while_others_are_added(void **state)
{
    (void)state;
    struct sources sources = {.newest = NULL};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_up, &sources), 0);
    fill(&sources);
    for (int i = 0; i < 2; i++) {
        void *differences;
        assert_int_equal(pthread_join(threads[i], &differences), 0);
        assert_null(differences);
    }
    jd_sources_free(&sources, 0);
}

/* As a child finds it whose parent's other thread was adding one. */
static void a_fork_at_any_step_leaves_it_added(void **state)
{
    (void)state;
    for (int steps = 0; steps < 3; steps++) {
        struct sources sources = {.newest = NULL};
        for (int i = 0; i < 7; i++)
            assert_true(jd_sources_add(&sources, new_source(i)));
        struct source *source = new_source(7);
        source->number = 7;
        sources.adding = source;
        if (steps > 0)
            sources.newest->newer = source;
        if (steps == 2)
            sources.newest = source;
        jd_sources_after_fork(&sources);
        assert_int_equal(sources_count(&sources), 8);
        assert_ptr_equal(find(&sources, 8, source->path), source);
        jd_sources_after_fork(&sources);
        assert_true(jd_sources_add(&sources, new_source(8)));
        assert_int_equal(sources_count(&sources), 9);
        for (int i = 0; i < 9; i++) {
            char path[32];
            snprintf(path, sizeof(path), "path %d", i);
            assert_int_equal(find(&sources, 9, path)->number, i);
        }
        jd_sources_free(&sources, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_found_and_has_its_number),
        cmocka_unit_test(a_fork_at_any_step_leaves_it_added),
        cmocka_unit_test(what_was_found_or_not_stays_so_while_others_are_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
