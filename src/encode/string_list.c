#include "../platform/c_library.h"

#include "string_list.h"

#include "track.h"

static struct text string(const struct string_list *list, uint32_t id)
{
    const struct jitdump_function *function = &list->functions[id >> 1];
    return (id & 1) == STRING_NAME ? function_name(function)
                                   : jd_file_name(list->file_names, function_file(function));
}

uint64_t jd_string_list_words(uint64_t strings)
{
    return strings + index_table_words(strings);
}

void jd_string_list_init(struct string_list *list, const struct jitdump_function *functions,
                         const struct file_names *file_names, uint64_t strings,
                         struct scratch *scratch)
{
    list->functions = functions;
    list->file_names = file_names;
    list->ids = scratch_take(scratch, strings);
    index_table_init(&list->table, strings, scratch);
    list->count = 0;
    list->size = 0;
}

struct search {
    const struct string_list *list;
    struct text text;
};

static bool is_equal(const void *context, uint32_t index)
{
    const struct search *search = context;
    return text_is_equal(string(search->list, search->list->ids[index]), search->text);
}

uint32_t jd_string_list_add(struct string_list *list, uint32_t function, enum string_kind kind)
{
    const uint32_t id = function << 1 | (uint32_t)kind;
    const struct search search = {list, string(list, id)};
    uint32_t *const slot =
        index_table_find(&list->table, hash_text(search.text), is_equal, &search);
    if (*slot == JITDUMP_NONE) {
        *slot = list->count;
        list->ids[list->count++] = id;
        list->size += search.text.size + 1;
    }
    return *slot;
}

unsigned char *jd_string_list_write(unsigned char *to, const struct string_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        to = put_text(to, string(list, list->ids[i]));
    return to;
}
