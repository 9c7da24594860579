/*
 * Makes the unwinding data of one description.
 *
 *     describe DIRECTORY ELF_MACH CODE_ADDR CODE_SIZE FRAME    < steps
 *
 * A step is a line: code_offset op reg offset, all decimal. Writes the dump into the directory,
 * prints what jitdump_unwind_size() says, and writes what jitdump_unwind_eh_frame() makes to
 * DIRECTORY/eh_frame. An error is printed, with exit code 1.
 */
#include "jitdump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS_MAX = 1000, EH_FRAME_SIZE_MAX = 1 << 16 };

static void check(int error)
{
    if (error != 0) {
        printf("%s\n", jitdump_strerror(error));
        exit(1);
    }
}

static uint64_t read_steps(struct jitdump_unwind_step *steps)
{
    uint64_t count = 0;
    while (count < STEPS_MAX &&
           scanf("%" SCNu64 "%" SCNu32 "%" SCNu32 "%" SCNd64, &steps[count].code_offset,
                 &steps[count].op, &steps[count].reg, &steps[count].offset) == 4)
        count++;
    return count;
}

static void write_file(const char *directory, const void *bytes, uint64_t size)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/eh_frame", directory);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, (size_t)size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    static struct jitdump_unwind_step steps[STEPS_MAX];
    static unsigned char eh_frame[EH_FRAME_SIZE_MAX];
    if (argc != 6)
        return 2;
    const uint32_t elf_mach = (uint32_t)strtoul(argv[2], NULL, 10);
    const struct jitdump_unwind unwind = {.struct_size = sizeof(unwind),
                                          .frame = (uint32_t)strtoul(argv[5], NULL, 10),
                                          .steps = steps,
                                          .step_count = read_steps(steps)};
    struct jitdump_code code = {.struct_size = sizeof(code),
                                .name = "function",
                                .code_addr = strtoull(argv[3], NULL, 10),
                                .code_size = strtoull(argv[4], NULL, 10),
                                .unwind = &unwind};
    const struct jitdump_options options = {
        .struct_size = sizeof(options), .elf_mach = elf_mach, .directory = argv[1]};

    code.code_bytes = calloc(1, (size_t)code.code_size + 1);
    if (code.code_bytes == NULL)
        return 1;
    struct jitdump *dump;
    uint64_t size;
    check(jitdump_open(&dump, &options));
    check(jitdump_unwind_size(dump, &code, &size));
    printf("%" PRIu64 "\n", size);
    check(jitdump_load(dump, &code, NULL));
    check(jitdump_close(dump));
    check(jitdump_unwind_eh_frame(elf_mach, &code, eh_frame, sizeof(eh_frame), &size));
    write_file(argv[1], eh_frame, size);
    free((void *)(uintptr_t)code.code_bytes);
    return 0;
}
