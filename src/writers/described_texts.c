#include "writers/described_texts.h"

#include <stdlib.h>

void described_texts_init(struct described_texts *texts, enum text_rule rule,
                          const char *unknown_file)
{
    *texts = (struct described_texts){.rule = rule, .unknown_file = unknown_file};
    string_table_init(&texts->names);
    string_table_init(&texts->files);
}

void described_texts_free(struct described_texts *texts)
{
    string_table_free(&texts->names);
    string_table_free(&texts->files);
    bytes_free(&texts->scratch);
    free(texts->texts);
    texts->texts = NULL;
}

bool described_texts_begin(struct described_texts *texts, const struct description *description)
{
    const uint32_t count = description->string_count;
    if (count > texts->capacity) {
        free(texts->texts);
        texts->texts = malloc(count * sizeof(*texts->texts));
        texts->capacity = texts->texts != NULL ? count : 0;
        if (texts->texts == NULL) {
            texts->failed = true;
            return false;
        }
    }
    if (count > 0)
        memset(texts->texts, 0, count * sizeof(*texts->texts));
    return true;
}

struct table_string described_own_name(struct described_texts *texts, struct span name)
{
    const struct span text = printable_name(name, texts->rule, &texts->scratch);
    return string_table_add(&texts->names, text.data, (size_t)text.size);
}

struct table_string described_name(struct described_texts *texts,
                                   const struct description *description, uint32_t string)
{
    struct table_string *const known = &texts->texts[string].name;
    if (known->number == 0)
        *known = described_own_name(texts, description->strings[string]);
    return *known;
}

static uint32_t unknown_file(struct described_texts *texts)
{
    return string_table_add(&texts->files, texts->unknown_file, strlen(texts->unknown_file)).number;
}

int compare_spans(struct span left, struct span right)
{
    const uint64_t size = left.size < right.size ? left.size : right.size;
    const int order = size != 0 ? memcmp(left.data, right.data, (size_t)size) : 0;
    return order != 0 ? order : left.size < right.size ? -1 : left.size > right.size;
}

static struct span renamed(const struct renamed_files *files, struct span path)
{
    uint32_t low = 0, high = files != NULL ? files->count : 0;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order = compare_spans(files->of[middle].path, path);
        if (order == 0)
            return files->of[middle].file;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return path;
}

uint32_t described_file(struct described_texts *texts, const struct description *description,
                        uint32_t string)
{
    if (string == DESCRIPTION_NONE)
        return unknown_file(texts);
    uint32_t *const known = &texts->texts[string].file;
    if (*known == 0) {
        const struct span text =
            printable_text(renamed(texts->renamed, description->strings[string]), texts->rule,
                           &texts->scratch);
        *known = text.size == 0
                     ? unknown_file(texts)
                     : string_table_add(&texts->files, text.data, (size_t)text.size).number;
    }
    return *known;
}

bool described_texts_failed(const struct described_texts *texts)
{
    return texts->failed || texts->names.bytes.failed || texts->files.bytes.failed ||
           texts->scratch.failed;
}
