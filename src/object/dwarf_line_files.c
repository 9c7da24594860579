#include "dwarf_line_files.h"

#include "grow.h"

#include <stdlib.h>
#include <string.h>

static const char cut[] = "a line table's header ends too early";

enum { CONTENT_PATH = 1, CONTENT_DIRECTORY = 2 };
enum { FORMATS_MAX = 16 };

struct directories {
    const char **items;
    size_t count;
    size_t capacity;
};

/* `directory`/`name`, or `name` alone if that is absolute or the directory unknown. NULL: out of memory. */
static char *join(const char *directory, const char *name)
{
    const size_t name_size = strlen(name) + 1;
    const size_t length = directory != NULL && name[0] != '/' ? strlen(directory) : 0;
    const size_t begin = length != 0 ? length + 1 : 0;
    char *const path = malloc(begin + name_size);
    if (path == NULL)
        return NULL;
    if (length != 0) {
        memcpy(path, directory, length);
        path[length] = '/';
    }
    memcpy(path + begin, name, name_size);
    return path;
}

static void add_file(struct dwarf_files *files, struct dwarf_line_table *table, char *path)
{
    if (path == NULL || !grow((void **)&files->items, &files->capacity, files->count,
                              sizeof(*files->items))) {
        free(path);
        files->no_memory = true;
        return;
    }
    files->items[files->count++] = path;
    table->file_count++;
}

/* The file of a name in a directory, which may be relative to that of the unit. */
static void add_file_in(struct dwarf_files *files, struct dwarf_line_table *table,
                        const char *unit_directory, const char *directory, const char *name)
{
    char *const inner = join(directory, name);
    char *const path = inner != NULL ? join(directory != unit_directory ? unit_directory : NULL, inner)
                                     : NULL;
    free(inner);
    add_file(files, table, path);
}

static bool add_directory(struct dwarf_files *files, struct directories *directories, const char *name)
{
    if (!grow((void **)&directories->items, &directories->capacity, directories->count,
              sizeof(*directories->items))) {
        files->no_memory = true;
        return false;
    }
    directories->items[directories->count++] = name;
    return true;
}

static const char *directory_at(const struct directories *directories, uint64_t index)
{
    return index < directories->count ? directories->items[index] : NULL;
}

/* Versions 2 to 4: lists that end with an empty name. Directory 0 is the unit's own. */
static void read_old_lists(struct cursor *cursor, const char *unit_directory, struct dwarf_files *files,
                           struct dwarf_line_table *table, struct directories *directories)
{
    if (!add_directory(files, directories, unit_directory))
        return;
    for (;;) {
        const struct span name = cursor_string(cursor, cut);
        if (name.size == 0)
            break;
        if (!add_directory(files, directories, (const char *)name.data))
            return;
    }
    for (;;) {
        const struct span name = cursor_string(cursor, cut);
        if (name.size == 0)
            break;
        const uint64_t directory = jd_cursor_uleb128(cursor, cut);
        jd_cursor_uleb128(cursor, cut); /* time */
        jd_cursor_uleb128(cursor, cut); /* size */
        if (cursor->error == NULL)
            add_file_in(files, table, unit_directory, directory_at(directories, directory),
                        (const char *)name.data);
    }
}

struct formats {
    struct {
        uint64_t content;
        uint64_t form;
    } items[FORMATS_MAX];
    uint8_t count;
};

static void read_formats(struct cursor *cursor, struct formats *formats)
{
    formats->count = cursor_u8(cursor, cut);
    if (formats->count > FORMATS_MAX) {
        cursor_fail(cursor, "a line table's entries have too many fields");
        formats->count = 0;
    }
    for (uint8_t i = 0; i < formats->count; i++) {
        formats->items[i].content = jd_cursor_uleb128(cursor, cut);
        formats->items[i].form = jd_cursor_uleb128(cursor, cut);
    }
}

/* Version 5: two lists of the same form, the directories and then the files. */
static void read_new_list(struct cursor *cursor, const struct dwarf_unit *unit,
                          const char *unit_directory, struct dwarf_files *files,
                          struct dwarf_line_table *table, struct directories *directories,
                          bool are_files)
{
    struct formats formats;
    read_formats(cursor, &formats);
    const uint64_t count = jd_cursor_uleb128(cursor, cut);
    if (count > cursor_left(cursor)) {
        cursor_fail(cursor, "a line table has more files than bytes");
        return;
    }
    for (uint64_t i = 0; i < count && cursor->error == NULL && !files->no_memory; i++) {
        const char *name = NULL;
        uint64_t directory = 0;
        for (uint8_t j = 0; j < formats.count; j++) {
            struct dwarf_value value;
            jd_dwarf_form(cursor, unit, formats.items[j].form, 0, &value);
            if (formats.items[j].content == CONTENT_PATH && value.class == DWARF_STRING)
                name = value.string;
            else if (formats.items[j].content == CONTENT_DIRECTORY)
                directory = value.number;
        }
        if (!are_files)
            add_directory(files, directories, name);
        else if (cursor->error == NULL)
            add_file_in(files, table, unit_directory, directory_at(directories, directory),
                        name != NULL ? name : "");
    }
}

void jd_dwarf_line_files(struct cursor *cursor, const struct dwarf_unit *unit, const char *directory,
                         struct dwarf_files *files, struct dwarf_line_table *table)
{
    struct directories directories = {0};
    table->from_zero = unit->version >= 5;
    if (unit->version < 5) {
        read_old_lists(cursor, directory, files, table, &directories);
    } else {
        read_new_list(cursor, unit, directory, files, table, &directories, false);
        if (directories.count != 0 && directories.items[0] != NULL)
            directory = directories.items[0];
        read_new_list(cursor, unit, directory, files, table, &directories, true);
    }
    free((void *)directories.items);
}

void jd_dwarf_line_file(struct cursor *cursor, struct dwarf_files *files, struct dwarf_line_table *table)
{
    const struct span name = cursor_string(cursor, cut);
    jd_cursor_uleb128(cursor, cut); /* directory; nobody is known to write this at all */
    jd_cursor_uleb128(cursor, cut);
    jd_cursor_uleb128(cursor, cut);
    if (cursor->error == NULL)
        add_file(files, table, join(NULL, (const char *)name.data));
}
