#include "writers/minidump_writer.h"

#include "writers/bytes.h"
#include "writers/file_writer.h"

#include <errno.h>

enum {
    CODE_VIEW_ELF = 0x4270454c, /* "BpEL": a build id follows */
    CODE_VIEW_SIZE = 4 + DIGEST_SIZE
};

static const char folder[] = "/jit/"; /* readers show a module by what is behind the last slash */

/* UTF-16, with its NUL, behind its length without. */
static void put_name(struct bytes *bytes, const char *name)
{
    bytes_u32(bytes, 2 * (sizeof(folder) - 1 + strlen(name)));
    for (const char *at = folder; *at != '\0'; at++)
        bytes_u16(bytes, (unsigned char)*at);
    for (const char *at = name; *at != '\0'; at++)
        bytes_u16(bytes, (unsigned char)*at);
    bytes_u16(bytes, 0);
}

static void put_code_view(struct bytes *bytes, const unsigned char *build_id)
{
    bytes_u32(bytes, CODE_VIEW_ELF);
    bytes_copy(bytes, build_id, DIGEST_SIZE);
}

/* MINIDUMP_MODULE. Its name and CodeView record are where the offsets say. */
static void put_module(struct bytes *bytes, const struct breakpad_module *module, uint64_t name,
                       uint64_t code_view)
{
    const size_t start = bytes->size;
    bytes_put(bytes, module->region.base, 8);
    bytes_u32(bytes, module->region.size);
    bytes_u32(bytes, 0); /* checksum */
    bytes_u32(bytes, 0); /* time of its making */
    bytes_u32(bytes, name);
    bytes_zeros(bytes, 52); /* its version */
    bytes_u32(bytes, CODE_VIEW_SIZE);
    bytes_u32(bytes, code_view);
    if (!bytes->failed)
        bytes_zeros(bytes, MINIDUMP_MODULE_SIZE - (bytes->size - start));
}

/* The new list, from the offset `start` of the file on: first the modules' names and ids, and then the
 * list itself. Returns where that begins in `bytes`. */
static size_t put_list(struct bytes *bytes, uint64_t start, const struct minidump *minidump,
                       const struct breakpad_module *modules, size_t count)
{
    struct bytes list = {.big_endian = bytes->big_endian};
    bytes_u32(&list, minidump->modules.size / MINIDUMP_MODULE_SIZE + count);
    bytes_copy(&list, minidump->modules.data, (size_t)minidump->modules.size);
    for (size_t i = 0; i < count; i++) {
        const uint64_t name = start + bytes->size;
        put_name(bytes, modules[i].name);
        bytes_align(bytes, 4);
        const uint64_t code_view = start + bytes->size;
        put_code_view(bytes, modules[i].build_id);
        put_module(&list, &modules[i], name, code_view);
    }
    bytes_align(bytes, 8);
    const size_t offset = bytes->size;
    bytes_copy(bytes, list.data, list.size);
    bytes->failed |= list.failed;
    bytes_free(&list);
    return offset;
}

/* A directory's entry. */
static void put_entry(struct bytes *bytes, uint64_t size, uint64_t offset)
{
    bytes_u32(bytes, MINIDUMP_MODULE_LIST);
    bytes_u32(bytes, size);
    bytes_u32(bytes, offset);
}

enum minidump_write_error minidump_write(int fd, const struct minidump *minidump,
                                         const struct breakpad_module *modules, size_t count)
{
    const uint16_t one = 1;
    const bool is_host_big = *(const unsigned char *)&one == 0;
    const struct span file = minidump->file;
    const uint64_t start = (file.size + 7) / 8 * 8;
    struct bytes added = {.big_endian = is_host_big != minidump->swapped};
    struct bytes entry = {.big_endian = added.big_endian};
    const size_t list = put_list(&added, start, minidump, modules, count);
    put_entry(&entry, added.size - list, start + list);
    enum minidump_write_error error = MINIDUMP_WRITTEN;
    if (added.failed || entry.failed) {
        error = MINIDUMP_WRITE_NO_MEMORY;
    } else if (start > UINT32_MAX || added.size > UINT32_MAX - start) {
        error = MINIDUMP_WRITE_TOO_LARGE;
    } else {
        struct file_writer writer;
        const uint64_t behind = minidump->module_entry + MINIDUMP_DIRECTORY_SIZE;
        file_writer_init(&writer, fd);
        file_writer_put(&writer, 0, file.data, (size_t)minidump->module_entry);
        file_writer_put(&writer, minidump->module_entry, entry.data, entry.size);
        file_writer_put(&writer, behind, file.data + behind, (size_t)(file.size - behind));
        file_writer_put(&writer, start, added.data, added.size);
        const int system_error = file_writer_finish(&writer, NULL, 0);
        if (system_error == ENOMEM)
            error = MINIDUMP_WRITE_NO_MEMORY;
        else if (system_error != 0)
            error = MINIDUMP_NOT_WRITTEN;
        errno = system_error;
    }
    bytes_free(&added);
    bytes_free(&entry);
    return error;
}
