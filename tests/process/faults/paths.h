/*
 * Where the running process's files are.
 */
#ifndef JITDUMP_TESTS_PATHS_H
#define JITDUMP_TESTS_PATHS_H

/* Each is the calling thread's, of its last call. */
const char *dump_path(const char *directory);
const char *map_path(void);

#endif
