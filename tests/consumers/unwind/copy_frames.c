/*
 * Loads functions with frames out of an .eh_frame section.
 *
 *     copy_frames DIRECTORY ELF_MACH SECTION_FILE SECTION_ADDR    < functions
 *
 * A function is a line: code_addr code_size, both decimal. Writes the dump into the directory, and
 * prints a line for each function: what jitdump_unwind_size() says, or its error, negative.
 */
#include "jitdump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int error)
{
    if (error != 0) {
        printf("%s\n", jitdump_strerror(error));
        exit(1);
    }
}

/* At the end of memory of its own, so that a sanitizer sees who reads on. */
static unsigned char *read_file(const char *path, uint64_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    const long end = ftell(file);
    rewind(file);
    unsigned char *bytes = malloc((size_t)end);
    if (bytes == NULL || fread(bytes, 1, (size_t)end, file) != (size_t)end) {
        perror(path);
        exit(1);
    }
    fclose(file);
    *size = (uint64_t)end;
    return bytes;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    uint64_t section_size;
    unsigned char *section = read_file(argv[3], &section_size);
    const struct jitdump_options options = {.struct_size = sizeof(options),
                                            .elf_mach = (uint32_t)strtoul(argv[2], NULL, 10),
                                            .flush_mode = JITDUMP_FLUSH_BUFFERED,
                                            .directory = argv[1]};
    struct jitdump *dump;
    check(jitdump_open(&dump, &options));
    uint64_t code_addr, code_size;
    while (scanf("%" SCNu64 "%" SCNu64, &code_addr, &code_size) == 2) {
        void *code_bytes = calloc(1, (size_t)code_size + 1);
        const struct jitdump_code code = {.struct_size = sizeof(code),
                                          .name = "function",
                                          .code_addr = code_addr,
                                          .code_size = code_size,
                                          .code_bytes = code_bytes,
                                          .eh_frame = section,
                                          .eh_frame_size = section_size,
                                          .eh_frame_addr = strtoull(argv[4], NULL, 10)};
        uint64_t size;
        const int error = jitdump_unwind_size(dump, &code, &size);
        printf("%" PRId64 "\n", error != 0 ? error : (int64_t)size);
        if (error == 0 || error == JITDUMP_ERROR_UNWIND_MISSING)
            check(jitdump_load(dump, &code, NULL));
        else if (jitdump_load(dump, &code, NULL) != error)
            return 1;
        free(code_bytes);
    }
    check(jitdump_close(dump));
    free(section);
    return 0;
}
