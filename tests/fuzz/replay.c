/*
 * In place of libFuzzer: gives the target each file of a corpus, in the order of their names.
 *
 *     replay CORPUS [OUTPUT]
 */
#define _GNU_SOURCE
#include "target.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_OF_INPUT (1 << 20)

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s CORPUS [OUTPUT]\n", argv[0]);
        return 2;
    }
    target_output = argc > 2 ? argv[2] : NULL;
    struct dirent **entries;
    const int count = scandir(argv[1], &entries, is_visible, alphasort);
    static uint8_t bytes[SIZE_MAX_OF_INPUT];
    if (count <= 0) {
        perror(argv[1]);
        return 1;
    }
    char *corpus = realpath(argv[1], NULL);
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", corpus, entries[i]->d_name);
        FILE *file = fopen(path, "rb");
        if (file == NULL) {
            perror(path);
            return 1;
        }
        const size_t size = fread(bytes, 1, sizeof(bytes), file);
        fclose(file);
        /* Told before: where it aborts, this is the input. */
        fprintf(stderr, "%s\n", path);
        LLVMFuzzerTestOneInput(bytes, size);
        free(entries[i]);
    }
    free(entries);
    free(corpus);
    printf("%d inputs\n", count);
    return 0;
}
