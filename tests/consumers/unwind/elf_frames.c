#define _GNU_SOURCE
#include "elf_frames.h"

#include "functions.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void write_dump(const char *directory, char *path, size_t size)
{
    const struct jitdump_options options = {.struct_size = sizeof(options),
                                            .directory = directory};
    struct jitdump *dump;
    check(jitdump_open(&dump, &options));
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        const struct jitdump_code code = function_code(&functions[i]);
        check(jitdump_load(dump, &code, NULL));
    }
    snprintf(path, size, "%s", jitdump_path(dump));
    check(jitdump_close(dump));
}

/* Under an emulator, the tool is the host's. */
static void run_tool(const char *tool, const char *dump, const char *elf)
{
    char command[4096];
    snprintf(command, sizeof(command), "'%s' elf '%s' -o '%s'", tool, dump, elf);
    if (system(command) != 0)
        fail(command);
}

static unsigned char *read_file(const char *path)
{
    enum { FILE_MAX = 1 << 20 };
    static unsigned char bytes[FILE_MAX];
    FILE *const file = fopen(path, "rb");
    if (file == NULL || fread(bytes, 1, FILE_MAX, file) == 0)
        fail(path);
    fclose(file);
    return bytes;
}

static void *place_section(const unsigned char *elf)
{
    Elf64_Ehdr header;
    memcpy(&header, elf, sizeof(header));
    const unsigned char *const sections = elf + header.e_shoff;
    Elf64_Shdr names;
    memcpy(&names, sections + header.e_shstrndx * sizeof(names), sizeof(names));
    for (int i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, sections + (size_t)i * sizeof(section), sizeof(section));
        if (strcmp((const char *)elf + names.sh_offset + section.sh_name, ".eh_frame") == 0)
            return memcpy((void *)(uintptr_t)section.sh_addr, elf + section.sh_offset,
                          (size_t)section.sh_size);
    }
    fail("there is no .eh_frame");
    return NULL;
}

void *elf_frames_place(const char *tool)
{
    char directory[] = "/tmp/jitdump-walk-XXXXXX";
    char dump[256], elf[sizeof(directory) + 16];
    if (mkdtemp(directory) == NULL)
        fail(directory);
    snprintf(elf, sizeof(elf), "%s/out.elf", directory);
    write_dump(directory, dump, sizeof(dump));
    run_tool(tool, dump, elf);
    void *const eh_frame = place_section(read_file(elf));
    unlink(dump);
    unlink(elf);
    rmdir(directory);
    return eh_frame;
}
