/*
 * Any bytes as a minidump, to which modules are added: nothing may be touched that is not there, memory
 * may run out anywhere, and what is called a success is a minidump with these modules, in which
 * nothing else has changed.
 *
 * The first byte says how many modules, the second which allocation fails; the minidump follows.
 */
#define _GNU_SOURCE
#include "failing_memory.h"
#include "target.h"

#include "writers/minidump_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *target_output;

enum { MODULES_MAX = 3 };

static void expect(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "not so: %s\n", what);
        abort();
    }
}

/* The minidump as it was, but for the entry of its list of modules, and that list in front of the new. */
static void check_file(int fd, const struct minidump *minidump, size_t count)
{
    const size_t length = (size_t)lseek(fd, 0, SEEK_END);
    const size_t before = (size_t)minidump->file.size;
    unsigned char *const data = __real_malloc(length);
    struct minidump again;
    struct problem problem;
    expect(pread(fd, data, length, 0) == (ssize_t)length, "it is read");
    const enum minidump_error error =
        jd_minidump_read(&again, (struct span){data, length}, &problem);
    /* The entry may lie in what else the file has, and change that. */
    const uint64_t behind = minidump->module_entry + MINIDUMP_DIRECTORY_SIZE;
    expect(length >= before &&
               memcmp(data, minidump->file.data, (size_t)minidump->module_entry) == 0 &&
               memcmp(data + behind, minidump->file.data + behind, before - (size_t)behind) == 0,
           "nothing else has changed");
    if (error == MINIDUMP_OK) {
        expect(again.modules.size ==
                   minidump->modules.size + count * (uint64_t)MINIDUMP_MODULE_SIZE,
               "the modules");
        expect(minidump->modules.size == 0 ||
                   memcmp(again.modules.data, minidump->modules.data,
                          (size_t)minidump->modules.size) == 0,
               "the old ones first");
        jd_minidump_free(&again);
    }
    free(data);
}

static void add_modules(const struct minidump *minidump, uint8_t count)
{
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("minidump", 0);
    struct breakpad_module modules[MODULES_MAX] = {{.name = "jit-1"}};
    for (uint8_t i = 0; i < count; i++) {
        modules[i].region =
            (struct code_region){.base = UINT64_C(0x7f0000000000) + i * 4096U, .size = 4096};
        modules[i].name = "jit-4711";
        memset(modules[i].build_id, i + 1, sizeof(modules[i].build_id));
    }
    expect(ftruncate(fd, 0) == 0, "an empty file");
    const enum minidump_write_error error = minidump_write(fd, minidump, modules, count);
    expect(error == MINIDUMP_WRITTEN || error == MINIDUMP_WRITE_NO_MEMORY, "it can be written");
    if (error == MINIDUMP_WRITTEN) {
        failing = 0;
        check_file(fd, minidump, count);
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct minidump minidump;
    struct problem problem = {.reason = NULL};
    if (length < 2)
        return 0;
    unsigned char *const copy = malloc(length - 1); /* so that what is behind it is guarded */
    if (length > 2)
        memcpy(copy, bytes + 2, length - 2);
    failing = bytes[1];
    switch (jd_minidump_read(&minidump, (struct span){copy, length - 2}, &problem)) {
    case MINIDUMP_OK:
        add_modules(&minidump, bytes[0] % (MODULES_MAX + 1));
        jd_minidump_free(&minidump);
        break;
    case MINIDUMP_WRONG:
        expect(problem.reason != NULL && problem.offset <= UINT64_C(1) << 33, "a reason");
        break;
    default:
        break;
    }
    failing = 0;
    free(copy);
    return 0;
}
