#define _GNU_SOURCE
#include "planted.h"

#include "../../unit/temporary.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#define CONTENTS "precious"

bool planted_possible(enum planted_kind kind)
{
    return geteuid() == 0 || kind < PLANTED_DEVICE;
}

static const char *in(const char *directory, const char *name)
{
    static char paths[2][PATH_MAX];
    static int turn;
    char *path = paths[turn ^= 1];
    snprintf(path, PATH_MAX, "%s/%s", directory, name);
    return path;
}

void planted_prepare(const char *directory)
{
    FILE *file = fopen(in(directory, "precious"), "w");
    assert_non_null(file);
    fputs(CONTENTS, file);
    fclose(file);
    assert_int_equal(mkdir(in(directory, "secret"), 0700), 0);
}

static void make_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_true(strlen(path) < sizeof(address.sun_path));
    strcpy(address.sun_path, path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    close(fd);
}

struct planted planted_make(enum planted_kind kind, const char *directory, const char *path)
{
    struct planted planted = {.kind = kind, .directory = directory};
    switch (kind) {
    case PLANTED_LINK_TO_FILE:
        assert_int_equal(symlink(in(directory, "precious"), path), 0);
        break;
    case PLANTED_LINK_TO_NOTHING:
        assert_int_equal(symlink(in(directory, "nothing"), path), 0);
        break;
    case PLANTED_LINK_TO_DIRECTORY:
        assert_int_equal(symlink(in(directory, "secret"), path), 0);
        break;
    case PLANTED_DIRECTORY:
        assert_int_equal(mkdir(path, 0700), 0);
        break;
    case PLANTED_FIFO:
        assert_int_equal(mkfifo(path, 0600), 0);
        break;
    case PLANTED_SOCKET:
        make_socket(path);
        break;
    case PLANTED_DEVICE:
        assert_int_equal(mknod(path, S_IFCHR | 0600, makedev(1, 3)), 0); /* null */
        break;
    case PLANTED_FILE_OF_ANOTHER:
        fclose(fopen(path, "w"));
        assert_int_equal(chown(path, 12345, 12345), 0);
        break;
    case PLANTED_KINDS:
        break;
    }
    assert_int_equal(lstat(path, &planted.thing), 0);
    assert_int_equal(stat(in(directory, "precious"), &planted.precious), 0);
    assert_int_equal(stat(in(directory, "secret"), &planted.secret), 0);
    return planted;
}

static void assert_same(const struct stat *before, const char *path)
{
    struct stat now;
    assert_int_equal(lstat(path, &now), 0);
    assert_int_equal(now.st_ino, before->st_ino);
    assert_int_equal(now.st_mode, before->st_mode);
    assert_int_equal(now.st_uid, before->st_uid);
    assert_int_equal(now.st_size, before->st_size);
    assert_int_equal(now.st_mtim.tv_sec, before->st_mtim.tv_sec);
    assert_int_equal(now.st_mtim.tv_nsec, before->st_mtim.tv_nsec);
}

void planted_assert_target_untouched(const struct planted *planted)
{
    assert_same(&planted->precious, in(planted->directory, "precious"));
    assert_same(&planted->secret, in(planted->directory, "secret"));
    assert_int_equal(access(in(planted->directory, "nothing"), F_OK), -1);
    struct contents contents = read_file(in(planted->directory, "precious"));
    assert_int_equal(contents.size, strlen(CONTENTS));
    assert_memory_equal(contents.bytes, CONTENTS, contents.size);
    free(contents.bytes);
}

void planted_assert_untouched(const struct planted *planted, const char *path)
{
    assert_same(&planted->thing, path);
    planted_assert_target_untouched(planted);
}
