#include "writers/gsym_writer.h"

#include "reader/read_description.h"
#include "writers/file_writer.h"
#include "writers/gsym_function.h"

#include <errno.h>
#include <stdlib.h>

enum {
    GSYM_MAGIC = 0x4753594d,

    /* The sections of version 2. */
    SECTION_END = 0,
    SECTION_ADDRESSES = 1,
    SECTION_OFFSETS = 2,
    SECTION_STRINGS = 3,
    SECTION_FILES = 4,
    SECTION_FUNCTIONS = 5,
    SECTION_UUID = 6,
    HEADER_SIZE_2 = 20,
    SECTION_COUNT_2 = 7, /* with the last, which is none */
    SECTION_SIZE_2 = 20
};

/* A file on its way: what there is before it can be laid out. */
struct gsym {
    const struct placed *pieces;
    size_t count;
    unsigned version;
    unsigned string_size;
    bool big_endian;
    unsigned char build_id[DIGEST_SIZE];

    uint64_t *function_offsets; /* in functions.bytes */
    struct gsym_functions functions;
    struct bytes files;
};

const char *gsym_strerror(enum gsym_error error)
{
    static const char *const texts[] = {
        [GSYM_OK] = "no error",
        [GSYM_NO_MEMORY] = "out of memory",
        [GSYM_NOT_WRITTEN] = "the file can't be written",
        [GSYM_EMPTY] = "there is no code",
        [GSYM_OUT_OF_ORDER] = "code that overlaps",
        [GSYM_TOO_LARGE] = "more than 4 GiB, which is the most that version 1 can hold",
    };
    return texts[error];
}

/* The table of files: u32 count, then {string directory, string name}; file 0 is none. */

static void put_file(struct gsym *gsym, const unsigned char *path, size_t length)
{
    struct string_table *const strings = &gsym->functions.texts.names;
    size_t directory = length;
    while (directory > 0 && path[directory - 1] != '/')
        directory--;
    /* Readers join the two by a slash; "/name" and what ends with a slash stay whole. */
    const bool is_split = directory > 1 && directory < length;
    const size_t name = is_split ? directory : 0;
    const uint32_t parts[] = {
        is_split ? string_table_add(strings, path, directory - 1).offset : 0,
        string_table_add(strings, path + name, length - name).offset};
    for (size_t i = 0; i < 2; i++)
        bytes_put(&gsym->files, parts[i], gsym->string_size);
}

static void put_files(struct gsym *gsym)
{
    const struct string_table *const files = &gsym->functions.texts.files;
    bytes_u32(&gsym->files, (uint64_t)files->string_count + 1);
    bytes_zeros(&gsym->files, 2 * (size_t)gsym->string_size);
    for (size_t at = 1; at < files->bytes.size && !files->bytes.failed;) { /* behind the empty string */
        const unsigned char *const file = files->bytes.data + at;
        const size_t length = strlen((const char *)file);
        put_file(gsym, file, length);
        at += length + 1;
    }
}

/* The layout */

static unsigned address_size(const struct gsym *gsym)
{
    const uint64_t spread = gsym->pieces[gsym->count - 1].address - gsym->pieces[0].address;
    return spread <= UINT8_MAX ? 1 : spread <= UINT16_MAX ? 2 : spread <= UINT32_MAX ? 4 : 8;
}

static void put_addresses(const struct gsym *gsym, struct bytes *to)
{
    for (size_t i = 0; i < gsym->count; i++)
        bytes_put(to, gsym->pieces[i].address - gsym->pieces[0].address, address_size(gsym));
}

/* Where the functions are, counted from `base`. */
static void put_function_offsets(const struct gsym *gsym, uint64_t base, unsigned size,
                                 struct bytes *to)
{
    for (size_t i = 0; i < gsym->count; i++)
        bytes_put(to, base + gsym->function_offsets[i], size);
}

static uint64_t rounded(uint64_t offset, uint64_t alignment)
{
    return (offset + alignment - 1) / alignment * alignment;
}

/* Everything before the functions. Returns false if the file is too large for its version. */
static bool put_version_1(const struct gsym *gsym, struct bytes *to)
{
    enum { HEADER_SIZE = 48 };
    const struct bytes *const strings = &gsym->functions.texts.names.bytes;
    const uint64_t offsets =
        rounded(HEADER_SIZE + (uint64_t)gsym->count * address_size(gsym), 4);
    const uint64_t strings_at = offsets + 4 * (uint64_t)gsym->count + gsym->files.size;
    const uint64_t functions_at = rounded(strings_at + strings->size, 4);
    if (functions_at + gsym->functions.bytes.size > UINT32_MAX)
        return false;
    bytes_u32(to, GSYM_MAGIC);
    bytes_u16(to, 1);
    bytes_u8(to, address_size(gsym));
    bytes_u8(to, DIGEST_SIZE);
    bytes_put(to, gsym->pieces[0].address, 8);
    bytes_u32(to, gsym->count);
    bytes_u32(to, strings_at);
    bytes_u32(to, strings->size);
    bytes_copy(to, gsym->build_id, DIGEST_SIZE);
    put_addresses(gsym, to);
    bytes_align(to, 4);
    put_function_offsets(gsym, functions_at, 4, to);
    bytes_copy(to, gsym->files.data, gsym->files.size);
    bytes_copy(to, strings->data, strings->size);
    bytes_align(to, 4);
    return true;
}

static void put_section(struct bytes *to, uint32_t type, uint64_t offset, uint64_t size)
{
    bytes_u32(to, type);
    bytes_put(to, offset, 8);
    bytes_put(to, size, 8);
}

static void put_version_2(const struct gsym *gsym, struct bytes *to)
{
    const struct bytes *const strings = &gsym->functions.texts.names.bytes;
    const uint64_t addresses = (uint64_t)gsym->count * address_size(gsym);
    const uint64_t addresses_at = rounded(HEADER_SIZE_2 + SECTION_COUNT_2 * SECTION_SIZE_2, 8);
    const uint64_t offsets_at = rounded(addresses_at + addresses, 8);
    const uint64_t files_at = offsets_at + 8 * (uint64_t)gsym->count;
    const uint64_t strings_at = files_at + gsym->files.size;
    const uint64_t uuid_at = strings_at + strings->size;
    const uint64_t functions_at = rounded(uuid_at + DIGEST_SIZE, 4);
    bytes_u32(to, GSYM_MAGIC);
    bytes_u16(to, 2);
    bytes_u8(to, address_size(gsym));
    bytes_u8(to, 0); /* strings end with a NUL */
    bytes_put(to, gsym->pieces[0].address, 8);
    bytes_u32(to, gsym->count);
    put_section(to, SECTION_ADDRESSES, addresses_at, addresses);
    put_section(to, SECTION_OFFSETS, offsets_at, 8 * (uint64_t)gsym->count);
    put_section(to, SECTION_FILES, files_at, gsym->files.size);
    put_section(to, SECTION_STRINGS, strings_at, strings->size);
    put_section(to, SECTION_UUID, uuid_at, DIGEST_SIZE);
    put_section(to, SECTION_FUNCTIONS, functions_at, gsym->functions.bytes.size);
    put_section(to, SECTION_END, 0, 0);
    bytes_align(to, 8);
    put_addresses(gsym, to);
    bytes_align(to, 8);
    put_function_offsets(gsym, 0, 8, to);
    bytes_copy(to, gsym->files.data, gsym->files.size);
    bytes_copy(to, strings->data, strings->size);
    bytes_copy(to, gsym->build_id, DIGEST_SIZE);
    bytes_align(to, 4);
}

/* The file */

/* False: out of memory. */
static bool add_pieces(struct gsym *gsym, const struct history *history,
                       const struct problems *problems)
{
    struct description description = {.row_count = 0};
    struct digest digest;
    build_id_begin(&digest, history);
    bool has_memory = true;
    for (size_t i = 0; i < gsym->count && has_memory; i++) {
        const struct piece *const piece = gsym->pieces[i].piece;
        build_id_add(&digest, history, &gsym->pieces[i]);
        has_memory = jd_description_read(&description, history, piece, problems);
        if (has_memory)
            gsym->function_offsets[i] = gsym_functions_add(
                &gsym->functions, piece->name, (uint32_t)piece->code_size, &description);
        if ((i + 1) % PIECES_BETWEEN_PROGRESS == 0)
            tell_progress(problems, i + 1, gsym->count);
    }
    digest_end(&digest, gsym->build_id);
    jd_description_free(&description);
    return has_memory;
}

static enum gsym_error write_file(struct gsym *gsym, int fd, int *system_error)
{
    const struct bytes *const functions = &gsym->functions.bytes;
    struct bytes first = {.big_endian = gsym->big_endian};
    struct file_writer file;
    bool fits = true;
    put_files(gsym);
    if (functions->failed || described_texts_failed(&gsym->functions.texts) || gsym->files.failed)
        return GSYM_NO_MEMORY;
    if (gsym->version == 1)
        fits = put_version_1(gsym, &first);
    else
        put_version_2(gsym, &first);
    const bool has_memory = !first.failed;
    file_writer_init(&file, fd);
    if (fits && has_memory) {
        file_writer_put(&file, 0, first.data, first.size);
        file_writer_put(&file, first.size, functions->data, functions->size);
    }
    *system_error = file_writer_finish(&file, NULL, 0);
    bytes_free(&first);
    if (!fits)
        return GSYM_TOO_LARGE;
    if (!has_memory || *system_error == ENOMEM)
        return GSYM_NO_MEMORY;
    return *system_error != 0 ? GSYM_NOT_WRITTEN : GSYM_OK;
}

enum gsym_error gsym_write(int fd, const struct history *history, const struct placed *pieces,
                           size_t count, const struct gsym_options *options,
                           struct gsym_result *result)
{
    struct gsym gsym = {.pieces = pieces,
                        .count = count,
                        .version = options->version,
                        .string_size = options->version == 1 ? 4 : 8,
                        .big_endian = jd_dump_is_big_endian(&history->reader)};
    *result = (struct gsym_result){.described = 0};
    if (count == 0)
        return GSYM_EMPTY;
    if (!placed_are_disjoint(pieces, count))
        return GSYM_OUT_OF_ORDER;
    gsym.function_offsets = malloc(count * sizeof(*gsym.function_offsets));
    if (gsym.function_offsets == NULL)
        return GSYM_NO_MEMORY;
    gsym.files.big_endian = gsym.big_endian;
    gsym_functions_init(&gsym.functions, gsym.string_size, gsym.big_endian);
    enum gsym_error error = GSYM_NO_MEMORY;
    if (add_pieces(&gsym, history, options->problems))
        error = write_file(&gsym, fd, &result->system_error);
    memcpy(result->build_id, gsym.build_id, DIGEST_SIZE);
    result->described = gsym.functions.described;
    gsym_functions_free(&gsym.functions);
    bytes_free(&gsym.files);
    free(gsym.function_offsets);
    return error;
}
