/*
 * The names and files of a track's functions as a list of NUL-terminated strings, each once.
 */
#ifndef JITDUMP_STRING_LIST_H
#define JITDUMP_STRING_LIST_H

#include "index_table.h"
#include "sources.h"

#pragma GCC visibility push(hidden)

enum string_kind { STRING_NAME = 0, STRING_FILE = 1 };

struct string_list {
    const struct jitdump_function *functions;
    const struct file_names *file_names;
    /* Where the strings are: function * 2 + enum string_kind. */
    uint32_t *ids;
    struct index_table table;
    uint32_t count;
    uint64_t size; /* in bytes, NULs included */
};

/* What jd_string_list_init() takes for at most `strings` strings. */
uint64_t jd_string_list_words(uint64_t strings);
void jd_string_list_init(struct string_list *list, const struct jitdump_function *functions,
                         const struct file_names *file_names, uint64_t strings,
                         struct scratch *scratch);

/* The string's index in the list. A file that is NULL is the empty string. */
uint32_t jd_string_list_add(struct string_list *list, uint32_t function, enum string_kind kind);

unsigned char *jd_string_list_write(unsigned char *to, const struct string_list *list);

#pragma GCC visibility pop

#endif
