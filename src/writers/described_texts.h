/*
 * Names and files of descriptions, each once in a table of the output. A piece refers to the same
 * few strings again and again, so each is looked up in the table once for a piece.
 */
#ifndef JITDUMP_WRITERS_DESCRIBED_TEXTS_H
#define JITDUMP_WRITERS_DESCRIBED_TEXTS_H

#include "reader/description.h"
#include "writers/printable_text.h"
#include "writers/string_table.h"

/* Files that are to be called otherwise, by ascending paths: compare_spans(). */
struct renamed_files {
    const struct renamed_file {
        struct span path;
        struct span file;
    } *of;
    uint32_t count;
};

/* As memcmp(); of two that begin alike the shorter one is less. */
int compare_spans(struct span left, struct span right);

struct described_texts {
    struct string_table names;
    struct string_table files; /* by their numbers */
    enum text_rule rule;
    const char *unknown_file; /* what a file is called that is not known */
    const struct renamed_files *renamed; /* NULL: none */

    /* By the index of the piece's strings; number 0: not asked for yet. */
    struct described_text {
        struct table_string name;
        uint32_t file;
    } *texts;
    uint32_t capacity;
    struct bytes scratch;
    struct bytes path;
    bool failed; /* no memory; see also described_texts_failed() */
};

void described_texts_init(struct described_texts *texts, enum text_rule rule,
                          const char *unknown_file);
void described_texts_free(struct described_texts *texts);

/* The next piece. False: out of memory, and `failed` is set. */
bool described_texts_begin(struct described_texts *texts, const struct description *description);

/* The piece's own name; "<anonymous>" if it has none. */
struct table_string described_own_name(struct described_texts *texts, struct span name);
/* A function's name, by the index of the description's strings; "<anonymous>" if that is empty. */
struct table_string described_name(struct described_texts *texts,
                                   const struct description *description, uint32_t string);
/* A file's number; that of the unknown file for DESCRIPTION_NONE and an empty one. After a failure
 * 0. */
uint32_t described_file(struct described_texts *texts, const struct description *description,
                        uint32_t string);

/* Whether memory ran out anywhere; then numbers and offsets are of no use. */
bool described_texts_failed(const struct described_texts *texts);

#endif
