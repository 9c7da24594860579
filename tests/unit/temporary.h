/*
 * A directory for one test, and files read whole. For cmocka: failures fail the test.
 */
#ifndef TEMPORARY_H
#define TEMPORARY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <sys/types.h>

/* The running test's directory, an absolute path. A test may go on in another one. */
extern const char *directory;

/* cmocka setup and teardown: *state is that path too, and is what is removed. */
int make_temporary_directory(void **state);
int remove_temporary_directory(void **state);

/* For cmocka: a test that needs no other setup. */
#define unit_test_in_directory(test)                                                               \
    cmocka_unit_test_setup_teardown(test, make_temporary_directory, remove_temporary_directory)

/* The path of process `pid`'s dump in that directory; static, of the last call. */
const char *dump_path(const char *in, pid_t pid);

/* The same of its perf map, which is in /tmp. */
const char *perf_map_path(pid_t pid);

struct contents {
    unsigned char *bytes;
    size_t size;
};

/* Read whole; to be freed with free(contents.bytes). */
struct contents read_file(const char *path);

/* `size` bytes, a multiple of REPEATED_SIZE, which all repeat the first REPEATED_SIZE of them and
 * take no memory beyond those; what is written behind those is there alone. For munmap(). */
enum { REPEATED_SIZE = 2 << 20 };
void *map_repeated(size_t size);

/* Until all other threads of the process do. */
void wait_until_others_sleep(void);

/* How many files and directories are in the directory. */
int count_entries(const char *in);

/* Sets the file's time back to one before the process began. */
void make_old(const char *path);

/* How many descriptors the process has open. */
int count_descriptors(void);

/* How much of its address space the process uses. From `maps`, because in `statm` an emulator's own
 * memory counts too. */
uint64_t mapped_bytes(void);

/* How many lines of /proc/self/maps name `path`; with "x", only executable ones. */
int count_mappings(const char *path, const char *permission);

#endif
