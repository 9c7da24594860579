/*
 * A profile that is compressed (perf record -z), or a directory of files (--threads), as one plain file.
 */
#ifndef JITDUMP_TOOL_INJECT_PARTS_H
#define JITDUMP_TOOL_INJECT_PARTS_H

#include "reader/mapped_file.h"

#include <stdbool.h>

/* Puts a plain file in place of `file`, unless it is one. It is called `path` in messages. Its other parts
 * lie in `folder`, which is NULL if there is none. False, with a complaint; `file` is as it was. */
bool make_plain(struct mapped_file *file, const char *path, const char *folder);

#endif
