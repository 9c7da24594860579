#include "elf_object.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ORDER ELFDATA2LSB
#else
#define OWN_ORDER ELFDATA2MSB
#endif

static struct span part_of(struct span bytes, uint64_t offset, uint64_t size)
{
    if (offset > bytes.size || size > bytes.size - offset)
        return (struct span){0};
    return (struct span){bytes.data + offset, size};
}

/* "": it is not there, or does not end. */
static const char *string_at(struct span strings, uint64_t offset)
{
    if (offset >= strings.size ||
        memchr(strings.data + offset, 0, (size_t)(strings.size - offset)) == NULL)
        return "";
    return (const char *)strings.data + offset;
}

static void read_section(const struct elf_object *object, const Elf64_Ehdr *header, uint32_t index,
                         struct elf_section *section)
{
    Elf64_Shdr raw;
    memcpy(&raw, object->bytes.data + header->e_shoff + index * sizeof(raw), sizeof(raw));
    *section = (struct elf_section){.name = "",
                                    .type = raw.sh_type,
                                    .flags = raw.sh_flags,
                                    .address = raw.sh_addr,
                                    .size = raw.sh_size,
                                    .link = raw.sh_link,
                                    .info = raw.sh_info};
    if (raw.sh_type != SHT_NOBITS && (raw.sh_flags & SHF_COMPRESSED) == 0)
        section->data = part_of(object->bytes, raw.sh_offset, raw.sh_size);
}

static void name_sections(struct elf_object *object, const Elf64_Ehdr *header)
{
    if (header->e_shstrndx >= object->section_count)
        return;
    const struct span names = object->sections[header->e_shstrndx].data;
    for (uint32_t i = 0; i < object->section_count; i++) {
        uint32_t name;
        memcpy(&name, object->bytes.data + header->e_shoff + i * sizeof(Elf64_Shdr), sizeof(name));
        object->sections[i].name = string_at(names, name);
    }
}

const char *jd_elf_object_read(struct elf_object *object, struct span bytes)
{
    Elf64_Ehdr header;
    *object = (struct elf_object){0};
    if (bytes.size < sizeof(header))
        return "it is shorter than an ELF header";
    memcpy(&header, bytes.data, sizeof(header));
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return "it is no ELF object";
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != OWN_ORDER)
        return "it is an ELF object of another class or byte order";
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 ||
        part_of(bytes, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)).data == NULL)
        return "its section headers are not in it";
    object->sections = calloc(header.e_shnum, sizeof(*object->sections));
    if (object->sections == NULL)
        return "out of memory";
    object->bytes = bytes;
    object->is_relocatable = header.e_type == ET_REL;
    object->machine = header.e_machine;
    object->section_count = header.e_shnum;
    for (uint32_t i = 0; i < object->section_count; i++)
        read_section(object, &header, i, &object->sections[i]);
    name_sections(object, &header);
    return NULL;
}

void jd_elf_object_free(struct elf_object *object)
{
    free(object->sections);
    *object = (struct elf_object){0};
}

const struct elf_section *jd_elf_section(const struct elf_object *object, const char *name)
{
    for (uint32_t i = 0; i < object->section_count; i++)
        if (strcmp(object->sections[i].name, name) == 0)
            return &object->sections[i];
    return NULL;
}

/* Where the symbol is in memory; false: nowhere. `section` is that which it is defined in. */
static bool symbol_address(const struct elf_object *object, const Elf64_Sym *symbol,
                           const struct elf_section **section, uint64_t *address)
{
    *section = NULL;
    *address = symbol->st_value;
    if (symbol->st_shndx == SHN_ABS)
        return true;
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= object->section_count)
        return false;
    *section = &object->sections[symbol->st_shndx];
    /* wasmtime makes a shared object of a relocatable one, and leaves its symbols as they were. */
    if (object->is_relocatable || (*address < (*section)->address && *address < (*section)->size))
        *address += (*section)->address;
    return true;
}

static uint64_t symbol_count(const struct elf_section *table)
{
    return table->data.size / sizeof(Elf64_Sym);
}

static Elf64_Sym symbol_at(const struct elf_section *table, uint64_t index)
{
    Elf64_Sym symbol;
    memcpy(&symbol, table->data.data + index * sizeof(symbol), sizeof(symbol));
    return symbol;
}

/* For sorting: of symbols at one address the one with the smallest `order` is kept. */
struct candidate {
    struct elf_function function;
    uint64_t section_end;
    uint64_t order;
};

static int by_address(const void *left, const void *right)
{
    const struct candidate *const a = left;
    const struct candidate *const b = right;
    if (a->function.address != b->function.address)
        return a->function.address < b->function.address ? -1 : 1;
    if (a->function.size != b->function.size)
        return a->function.size > b->function.size ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static size_t read_functions(const struct elf_object *object, const struct elf_section *table,
                             struct candidate *candidates, size_t count)
{
    const struct span names =
        table->link < object->section_count ? object->sections[table->link].data : (struct span){0};
    for (uint64_t i = 0; i < symbol_count(table); i++) {
        const Elf64_Sym symbol = symbol_at(table, i);
        const struct elf_section *section;
        struct candidate *const candidate = &candidates[count];
        uint64_t address;
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
            !symbol_address(object, &symbol, &section, &address) || address == 0)
            continue;
        if (section != NULL &&
            (section->address == 0 || address < section->address ||
             address - section->address >= section->size ||
             section->size > UINT64_MAX - section->address))
            continue;
        *candidate = (struct candidate){
            .function = {string_at(names, symbol.st_name), address, symbol.st_size},
            .section_end = section != NULL ? section->address + section->size : UINT64_MAX,
            .order = i + ((uint64_t)(ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) << 32)};
        if (candidate->function.name[0] != '\0')
            count++;
    }
    return count;
}

/* Of those at one address the first; sizes as far as there is code. */
static size_t choose(struct elf_function *functions, const struct candidate *candidates, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct candidate *const candidate = &candidates[i];
        struct elf_function function = candidate->function;
        if (kept > 0 && functions[kept - 1].address == function.address)
            continue;
        size_t next = i + 1;
        while (next < count && candidates[next].function.address == function.address)
            next++;
        const uint64_t room = candidate->section_end - function.address;
        if (function.size == 0 && next < count &&
            candidates[next].function.address - function.address < room)
            function.size = candidates[next].function.address - function.address;
        else if (function.size == 0 && candidate->section_end != UINT64_MAX)
            function.size = room;
        if (function.size > room)
            function.size = room;
        if (function.size != 0)
            functions[kept++] = function;
    }
    return kept;
}

bool jd_elf_functions(const struct elf_object *object, struct elf_function **functions, size_t *count)
{
    uint64_t symbols = 0;
    *functions = NULL;
    *count = 0;
    for (uint32_t i = 0; i < object->section_count; i++)
        if (object->sections[i].type == SHT_SYMTAB || object->sections[i].type == SHT_DYNSYM)
            symbols += symbol_count(&object->sections[i]);
    if (symbols == 0)
        return true;
    struct candidate *const candidates = calloc((size_t)symbols, sizeof(*candidates));
    *functions = calloc((size_t)symbols, sizeof(**functions));
    size_t found = 0;
    if (candidates != NULL && *functions != NULL) {
        for (uint32_t i = 0; i < object->section_count; i++)
            if (object->sections[i].type == SHT_SYMTAB || object->sections[i].type == SHT_DYNSYM)
                found = read_functions(object, &object->sections[i], candidates, found);
        qsort(candidates, found, sizeof(*candidates), by_address);
        *count = choose(*functions, candidates, found);
    }
    const bool enough = candidates != NULL && *functions != NULL;
    free(candidates);
    if (!enough) {
        free(*functions);
        *functions = NULL;
    }
    return enough;
}

/* How many bytes the relocation writes; 0: it is not one of those that debug sections have. */
static unsigned int relocation_size(uint16_t machine, uint32_t type, bool *relative)
{
    *relative = false;
    switch (machine) {
    case EM_X86_64:
        *relative = type == R_X86_64_PC32 || type == R_X86_64_PC64;
        if (type == R_X86_64_64 || type == R_X86_64_PC64)
            return 8;
        return type == R_X86_64_32 || type == R_X86_64_32S || type == R_X86_64_PC32 ? 4 : 0;
    case EM_AARCH64:
        *relative = type == R_AARCH64_PREL32 || type == R_AARCH64_PREL64;
        if (type == R_AARCH64_ABS64 || type == R_AARCH64_PREL64)
            return 8;
        return type == R_AARCH64_ABS32 || type == R_AARCH64_PREL32 ? 4 : 0;
    default:
        return 0;
    }
}

static void relocate(const struct elf_object *object, const struct elf_section *relocations,
                     const struct elf_section *target, unsigned char *data)
{
    if (relocations->link >= object->section_count)
        return;
    const struct elf_section *const symbols = &object->sections[relocations->link];
    for (uint64_t i = 0; i < relocations->data.size / sizeof(Elf64_Rela); i++) {
        Elf64_Rela relocation;
        const struct elf_section *section;
        uint64_t value;
        bool relative;
        memcpy(&relocation, relocations->data.data + i * sizeof(relocation), sizeof(relocation));
        const unsigned int size =
            relocation_size(object->machine, (uint32_t)ELF64_R_TYPE(relocation.r_info), &relative);
        const uint64_t index = ELF64_R_SYM(relocation.r_info);
        if (size == 0 || relocation.r_offset > target->data.size ||
            size > target->data.size - relocation.r_offset || index >= symbol_count(symbols))
            continue;
        const Elf64_Sym symbol = symbol_at(symbols, index);
        if (!symbol_address(object, &symbol, &section, &value))
            continue;
        value += (uint64_t)relocation.r_addend;
        if (relative)
            value -= target->address + relocation.r_offset;
        const uint32_t half = (uint32_t)value;
        if (size == 8)
            memcpy(data + relocation.r_offset, &value, sizeof(value));
        else
            memcpy(data + relocation.r_offset, &half, sizeof(half));
    }
}

struct span jd_elf_relocated(const struct elf_object *object, const char *name, void **copy)
{
    const struct elf_section *const target = jd_elf_section(object, name);
    *copy = NULL;
    if (target == NULL || target->data.size == 0)
        return (struct span){0};
    for (uint32_t i = 0; object->is_relocatable && i < object->section_count; i++) {
        const struct elf_section *const section = &object->sections[i];
        if (section->type != SHT_RELA || section->info >= object->section_count ||
            &object->sections[section->info] != target)
            continue;
        if (*copy == NULL) {
            *copy = malloc((size_t)target->data.size);
            if (*copy == NULL)
                return (struct span){0};
            memcpy(*copy, target->data.data, (size_t)target->data.size);
        }
        relocate(object, section, target, *copy);
    }
    return *copy != NULL ? (struct span){*copy, target->data.size} : target->data;
}
