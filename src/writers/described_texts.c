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
    bytes_free(&texts->path);
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

/* 16: it is none. */
static unsigned int hex_digit(unsigned char digit)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char low = digit >= 'A' && digit <= 'F' ? (unsigned char)(digit | 0x20) : digit;
    const char *const at = low != 0 ? strchr(digits, low) : NULL;
    return at != NULL ? (unsigned int)(at - digits) : 16;
}

/* The path in "file:///home/me/a%20b.mjs", as Node calls its modules: readers open files by it, and perf up
 * to 6.12 loses the line behind the colon (P39). Else the text itself. */
static struct span local_path(struct described_texts *texts, struct span text)
{
    static const char scheme[] = "file://";
    const size_t skipped = sizeof(scheme) - 1;
    if (text.size <= skipped || memcmp(text.data, scheme, skipped) != 0 ||
        text.data[skipped] != '/')
        return text;
    const struct span path = {text.data + skipped, text.size - skipped};
    texts->path.size = 0;
    unsigned char *const to = bytes_room(&texts->path, (size_t)path.size);
    if (to == NULL)
        return path;
    uint64_t size = 0;
    for (uint64_t i = 0; i < path.size; i++, size++) {
        const bool escaped = path.data[i] == '%' && path.size - i > 2 &&
                             hex_digit(path.data[i + 1]) < 16 && hex_digit(path.data[i + 2]) < 16;
        to[size] = !escaped ? path.data[i]
                            : (unsigned char)(hex_digit(path.data[i + 1]) << 4 |
                                              hex_digit(path.data[i + 2]));
        i += escaped ? 2 : 0;
    }
    return (struct span){to, size};
}

uint32_t described_file(struct described_texts *texts, const struct description *description,
                        uint32_t string)
{
    if (string == DESCRIPTION_NONE)
        return unknown_file(texts);
    uint32_t *const known = &texts->texts[string].file;
    if (*known == 0) {
        const struct span file = renamed(texts->renamed, description->strings[string]);
        const struct span text =
            printable_text(local_path(texts, file), texts->rule, &texts->scratch);
        *known = text.size == 0
                     ? unknown_file(texts)
                     : string_table_add(&texts->files, text.data, (size_t)text.size).number;
    }
    return *known;
}

bool described_texts_failed(const struct described_texts *texts)
{
    return texts->failed || texts->names.bytes.failed || texts->files.bytes.failed ||
           texts->scratch.failed || texts->path.failed;
}
