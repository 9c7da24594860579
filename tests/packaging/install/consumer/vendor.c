/* A library that has jitdump's sources among its own: a whole life of a dump in `directory`.
 * Returns the patch level of the copy that was called, or a negative error. */
#include <jitdump.h>

#include <string.h>

int vendor(const char *directory);

int vendor(const char *directory)
{
    struct jitdump_options options = {
        .struct_size = sizeof(options), .flags = JITDUMP_UNLINK_AT_CLOSE, .directory = directory};
    struct jitdump_code code = {.struct_size = sizeof(code),
                                .name = "generated",
                                .code_addr = (uintptr_t)directory,
                                .code_size = strlen(directory)};
    struct jitdump *dump;
    int error = jitdump_open(&dump, &options);
    if (error == 0)
        error = jitdump_load(dump, &code, NULL);
    const int close_error = jitdump_close(dump);
    if (error == 0)
        error = close_error;
    const uint32_t without_patch = JITDUMP_VERSION_MAJOR * 10000 + JITDUMP_VERSION_MINOR * 100;
    return error != 0 ? error : (int)(jitdump_version() - without_patch);
}
