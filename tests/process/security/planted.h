/*
 * Things that someone else may have put where the library wants to make a file, and whether they
 * are still as they were.
 */
#ifndef JITDUMP_TESTS_PLANTED_H
#define JITDUMP_TESTS_PLANTED_H

#include <stdbool.h>
#include <sys/stat.h>

enum planted_kind {
    PLANTED_LINK_TO_FILE,
    PLANTED_LINK_TO_NOTHING,
    PLANTED_LINK_TO_DIRECTORY,
    PLANTED_DIRECTORY,
    PLANTED_FIFO,
    PLANTED_SOCKET,
    /* Only root can make the last two. */
    PLANTED_DEVICE,
    PLANTED_FILE_OF_ANOTHER,
    PLANTED_KINDS
};

bool planted_possible(enum planted_kind kind);

struct planted {
    enum planted_kind kind;
    /* `directory`/precious, `directory`/secret and the thing, before. */
    const char *directory;
    struct stat precious, secret, thing;
};

/* A file and a directory to which links can lead. */
void planted_prepare(const char *directory);

/* Makes the thing at `path`, where nothing may be. */
struct planted planted_make(enum planted_kind kind, const char *directory, const char *path);

/* The thing is still there, and what it leads to is as it was. Fails the test. */
void planted_assert_untouched(const struct planted *planted, const char *path);

/* Only what it leads to is as it was; the thing itself may have been removed. */
void planted_assert_target_untouched(const struct planted *planted);

#endif
