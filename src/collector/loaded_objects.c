/*
 * The loader tells debuggers of changes by calling an empty function (r_brk), in the midst of dlopen() too:
 * the objects are mapped then, and none of their code has run. It holds its lock, so that the list stands
 * still.
 */
#include "platform/c_library.h"

#include "loaded_objects.h"

#include "code_patch.h"
#include "object/elf_object.h"
#include "process_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__GLIBC__) && UINTPTR_MAX == UINT64_MAX

#include <elf.h>
#include <link.h>

static struct loaded_symbols wanted;
static found_symbols *report;

/* The objects that were looked at: their place and name tell them apart, since the loader uses memory
 * again. */
static struct seen {
    uintptr_t address;
    const void *dynamic;
} *seen;
static size_t seen_count;
static size_t seen_capacity;

struct symbols {
    uintptr_t function;
    uintptr_t variable;
    uint64_t room;
};

/* An object's file, as far as it was read. It is not mapped: perf takes a file's lowest mapping for where it
 * lies, and would unwind nothing through libraries that lie above. */
struct image {
    int file;
    unsigned char *bytes;
    size_t size;
};

static bool read_at(const struct image *image, unsigned char *to, uint64_t offset, uint64_t size)
{
    while (size > 0) {
        const ssize_t got = pread(image->file, to, (size_t)size, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        offset += (uint64_t)got;
        size -= (uint64_t)got;
    }
    return true;
}

/* Makes the part, which lies in the image, as it is in the file. */
static bool fill(const struct image *image, const void *part, uint64_t size)
{
    const uint64_t offset = (uint64_t)((const unsigned char *)part - image->bytes);
    return read_at(image, image->bytes + offset, offset, size);
}

static bool fill_headers(const struct image *image)
{
    Elf64_Ehdr header;
    if (image->size < sizeof(header) || !fill(image, image->bytes, sizeof(header)))
        return false;
    memcpy(&header, image->bytes, sizeof(header));
    const uint64_t size = (uint64_t)header.e_shnum * sizeof(Elf64_Shdr);
    return header.e_shoff <= image->size && size <= image->size - header.e_shoff &&
           fill(image, image->bytes + header.e_shoff, size);
}

/* Where a name is in a table of names; also as the end of a longer one, with which linkers let it share. */
enum { PLACES_MAX = 8 };
struct places {
    uint64_t at[PLACES_MAX];
    size_t count;
};

static bool is_among(const struct places *places, uint64_t offset)
{
    for (size_t i = 0; i < places->count; i++)
        if (places->at[i] == offset)
            return true;
    return false;
}

static void add_places(struct places *places, const char *name, const unsigned char *piece,
                       size_t size, uint64_t offset)
{
    const size_t name_size = strlen(name) + 1;
    const unsigned char *from = piece, *found;
    while (places->count < PLACES_MAX &&
           (found = memmem(from, size - (size_t)(from - piece), name, name_size)) != NULL) {
        const uint64_t at = offset + (uint64_t)(found - piece);
        if (!is_among(places, at))
            places->at[places->count++] = at;
        from = found + 1;
    }
}

/* Most objects have no such names. A large one's table has some 100 MB, and takes less than half of the time if the
 * memory that it is read to is used again. */
static bool find_names(const struct image *image, struct span names, struct places *functions,
                       struct places *variables)
{
    static unsigned char piece[256 << 10]; /* the loader's lock is held */
    enum { KEPT_MAX = 64 }; /* more than a name has */
    const uint64_t begin = names.size != 0 ? (uint64_t)(names.data - image->bytes) : 0;
    size_t kept = 0; /* of the piece before: a name may have begun there */
    for (uint64_t at = 0; at < names.size;) {
        uint64_t size = sizeof(piece) - kept;
        if (size > names.size - at)
            size = names.size - at;
        if (!read_at(image, piece + kept, begin + at, size))
            return false;
        const size_t filled = kept + (size_t)size;
        add_places(functions, wanted.function, piece, filled, at - kept);
        add_places(variables, wanted.variable, piece, filled, at - kept);
        at += size;
        kept = filled < KEPT_MAX ? filled : KEPT_MAX;
        memmove(piece, piece + filled - kept, kept);
    }
    return functions->count != 0;
}

static void find_in_table(const struct image *image, const struct elf_object *object,
                          const struct elf_section *table, struct symbols *symbols)
{
    struct places functions = {0}, variables = {0};
    if (table->link >= object->section_count ||
        !find_names(image, object->sections[table->link].data, &functions, &variables) ||
        !fill(image, table->data.data, table->data.size))
        return;
    const size_t count = (size_t)(table->data.size / sizeof(Elf64_Sym));
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, table->data.data + i * sizeof(symbol), sizeof(symbol));
        if (symbol.st_shndx == SHN_UNDEF)
            continue;
        if (is_among(&functions, symbol.st_name))
            symbols->function = (uintptr_t)symbol.st_value;
        else if (is_among(&variables, symbol.st_name))
            symbols->variable = (uintptr_t)symbol.st_value;
    }
    for (size_t i = 0; symbols->function != 0 && i < count; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, table->data.data + i * sizeof(symbol), sizeof(symbol));
        if (symbol.st_shndx != SHN_UNDEF && symbol.st_value > symbols->function &&
            ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value < next)
            next = symbol.st_value;
    }
    symbols->room = next - symbols->function;
}

/* Functions begin at multiples of 16, and what is between them is padding; small ones may say so in no
 * table that is left. */
#define ROOM_MAX 16

static void look_into(const struct image *image, uintptr_t base, const char *path)
{
    struct elf_object object;
    struct symbols symbols = {0};
    if (!fill_headers(image) ||
        jd_elf_object_read(&object, (struct span){image->bytes, image->size}) != NULL)
        return;
    for (uint32_t i = 0; i < object.section_count; i++) {
        const struct elf_section *const section = &object.sections[i];
        if ((section->type == SHT_SYMTAB || section->type == SHT_DYNSYM) &&
            (symbols.function == 0 || symbols.variable == 0))
            find_in_table(image, &object, section, &symbols);
    }
    jd_elf_object_free(&object);
    if (symbols.function != 0 && symbols.variable != 0)
        report(base + symbols.function, symbols.room < ROOM_MAX ? symbols.room : ROOM_MAX,
               base + symbols.variable, path);
}

static void look_at(const struct link_map *map)
{
    /* The program itself has no name. */
    const char *const path = map->l_name[0] != '\0' ? map->l_name : "/proc/self/exe";
    struct stat status;
    /* The kernel's own object has no file, and a name without a folder. */
    const int file = strchr(path, '/') != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        const size_t size = (size_t)status.st_size;
        void *const bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (bytes != MAP_FAILED) {
            look_into(&(struct image){file, bytes, size}, map->l_addr, path);
            munmap(bytes, size);
        }
    }
    close(file);
}

static bool was_seen(const struct link_map *map)
{
    for (size_t i = 0; i < seen_count; i++)
        if (seen[i].address == map->l_addr && seen[i].dynamic == map->l_ld)
            return true;
    return false;
}

static void note(const struct link_map *map)
{
    if (seen_count == seen_capacity) {
        const size_t capacity = seen_capacity != 0 ? 2 * seen_capacity : 64;
        struct seen *const more = realloc(seen, capacity * sizeof(*more));
        if (more == NULL)
            return;
        seen = more;
        seen_capacity = capacity;
    }
    seen[seen_count++] = (struct seen){map->l_addr, map->l_ld};
}

/* Those that are gone: another may come to their place. */
static void forget_unloaded(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < seen_count; i++) {
        const struct link_map *map = _r_debug.r_map;
        while (map != NULL && (map->l_addr != seen[i].address || map->l_ld != seen[i].dynamic))
            map = map->l_next;
        if (map != NULL)
            seen[kept++] = seen[i];
    }
    seen_count = kept;
}

/* New ones are at the end of the list; after an unload they may be anywhere. */
static void look_at_new(bool unloaded)
{
    static const struct link_map *last;
    const struct link_map *map = _r_debug.r_map;
    if (unloaded)
        forget_unloaded();
    else if (last != NULL)
        map = last->l_next;
    for (; map != NULL; map = map->l_next) {
        last = map;
        if (!unloaded || !was_seen(map)) {
            note(map);
            look_at(map);
        }
    }
}

static void objects_changed(void *context)
{
    static bool unloaded;
    const int saved_errno = errno;
    (void)context;
    if (_r_debug.r_state == RT_DELETE) {
        unloaded = true;
    } else if (_r_debug.r_state == RT_CONSISTENT) {
        look_at_new(unloaded);
        unloaded = false;
    }
    errno = saved_errno;
}

void jd_loaded_objects_watch(const struct loaded_symbols *symbols, found_symbols *found)
{
    static atomic_uint said;
    wanted = *symbols;
    report = found;
    objects_changed(NULL);
    const char *const error =
        jd_patch_function((uintptr_t)_r_debug.r_brk, ROOM_MAX, objects_changed, NULL);
    if (error != NULL)
        jd_collector_report(&said, "objects that are loaded later are not seen: of the loader, %s", error);
}

#else

void jd_loaded_objects_watch(const struct loaded_symbols *symbols, found_symbols *found)
{
    (void)symbols;
    (void)found;
}

#endif
