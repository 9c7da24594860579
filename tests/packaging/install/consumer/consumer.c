/* A whole life of a dump, in the current directory. Exits with 0 if the file was there
 * while the dump was open. */
#include <jitdump.h>

#include <stdio.h>
#include <string.h>

static int check(const char *what, int error)
{
    if (error)
        fprintf(stderr, "%s: %s\n", what, jitdump_strerror(error));
    return error != 0;
}

/* The file holds at least its header and the name of the one function. */
static int check_file(const char *path, const char *name)
{
    static const char magic[2][5] = {"DTiJ", "JiTD"};
    char bytes[512];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);

    size_t name_offset = 40 + 56; /* the file's header, then the struct of JIT_CODE_LOAD */
    if (size < name_offset + strlen(name) + 1 ||
        (memcmp(bytes, magic[0], 4) != 0 && memcmp(bytes, magic[1], 4) != 0) ||
        memcmp(bytes + name_offset, name, strlen(name) + 1) != 0) {
        fprintf(stderr, "%s: %zu bytes that are no dump of %s\n", path, size, name);
        return 1;
    }
    return 0;
}

int main(void)
{
    static const unsigned char code_bytes[16] = {0};
    struct jitdump_options options = {
        .struct_size = sizeof(options), .flags = JITDUMP_UNLINK_AT_CLOSE, .directory = "."};
    struct jitdump_code code = {.struct_size = sizeof(code),
                                .name = "generated",
                                .code_addr = (uintptr_t)code_bytes,
                                .code_size = sizeof(code_bytes)};
    struct jitdump *dump;
    uint64_t index;

    if (check("jitdump_open", jitdump_open(&dump, &options)))
        return 1;
    int failed = check("jitdump_load", jitdump_load(dump, &code, &index)) ||
                 check_file(jitdump_path(dump), code.name);
    return check("jitdump_close", jitdump_close(dump)) || failed;
}
