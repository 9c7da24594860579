#define _GNU_SOURCE
#include "platform/c_library.h"

#include "tool/remove_tree.h"

#include <ftw.h>
#include <stdio.h>

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
