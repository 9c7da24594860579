#include "platform/c_library.h"

#include "tool/record_program.h"

#include "reader/mapped_file.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCRIPTS_MAX = 4, PATH_MAX_SIZE = 4096 };

/* Bytes of a program of this machine's kind. NULL: they do not lie in the file. */
static const void *bytes_at(const struct mapped_file *file, uint64_t offset, uint64_t size)
{
    return offset <= file->size && size <= file->size - offset ? file->data + offset : NULL;
}

/* A string that ends in the file. */
static const char *string_at(const struct mapped_file *file, uint64_t offset)
{
    if (offset >= file->size || memchr(file->data + offset, 0, (size_t)(file->size - offset)) == NULL)
        return NULL;
    return (const char *)file->data + offset;
}

static bool is_of(const struct mapped_file *file, const ElfW(Ehdr) *ours)
{
    const ElfW(Ehdr) *const header = bytes_at(file, 0, sizeof(*header));
    return header != NULL && memcmp(header->e_ident, ours->e_ident, EI_VERSION) == 0 &&
           header->e_machine == ours->e_machine && header->e_phentsize == sizeof(ElfW(Phdr));
}

static bool segment_at(const struct mapped_file *file, unsigned i, ElfW(Phdr) *segment)
{
    ElfW(Ehdr) header;
    memcpy(&header, file->data, sizeof(header));
    const void *const at =
        i < header.e_phnum
            ? bytes_at(file, header.e_phoff + (uint64_t)i * sizeof(*segment), sizeof(*segment))
            : NULL;
    if (at != NULL)
        memcpy(segment, at, sizeof(*segment));
    return at != NULL;
}

/* The first of that type; there is but one of each that is looked for. */
static bool find_segment(const struct mapped_file *file, uint32_t type, ElfW(Phdr) *segment)
{
    for (unsigned i = 0; segment_at(file, i, segment); i++)
        if (segment->p_type == type)
            return true;
    return false;
}

static const char *loader_of(const struct mapped_file *file)
{
    ElfW(Phdr) segment;
    return find_segment(file, PT_INTERP, &segment) ? string_at(file, segment.p_offset) : NULL;
}

/* Where an address of the program lies in its file. */
static uint64_t offset_of(const struct mapped_file *file, uint64_t address)
{
    ElfW(Phdr) segment;
    for (unsigned i = 0; segment_at(file, i, &segment); i++)
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz)
            return segment.p_offset + (address - segment.p_vaddr);
    return UINT64_MAX;
}

/* Whether it needs a library whose name begins so. */
static bool needs(const struct mapped_file *file, const char *library)
{
    ElfW(Phdr) segment;
    ElfW(Dyn) entry;
    uint64_t strings = UINT64_MAX;
    if (!find_segment(file, PT_DYNAMIC, &segment) ||
        bytes_at(file, segment.p_offset, segment.p_filesz) == NULL)
        return false;
    const unsigned char *const table = file->data + segment.p_offset;
    const uint64_t count = segment.p_filesz / sizeof(entry);
    for (uint64_t i = 0; i < count; i++) {
        memcpy(&entry, table + i * sizeof(entry), sizeof(entry));
        if (entry.d_tag == DT_STRTAB)
            strings = offset_of(file, entry.d_un.d_ptr);
    }
    for (uint64_t i = 0; i < count && strings < file->size; i++) {
        memcpy(&entry, table + i * sizeof(entry), sizeof(entry));
        if (entry.d_tag != DT_NEEDED || entry.d_un.d_val >= file->size)
            continue;
        const char *const name = string_at(file, strings + entry.d_un.d_val);
        if (name != NULL && strncmp(name, library, strlen(library)) == 0)
            return true;
    }
    return false;
}

/* "#! interpreter argument" */
static bool is_script(const struct mapped_file *file, char *interpreter)
{
    char line[PATH_MAX_SIZE] = "";
    if (file->size < 2 || memcmp(file->data, "#!", 2) != 0)
        return false;
    memcpy(line, file->data + 2,
           file->size - 2 < sizeof(line) - 1 ? (size_t)(file->size - 2) : sizeof(line) - 1);
    line[strcspn(line, "\n")] = '\0';
    const char *const word = line + strspn(line, " \t");
    snprintf(interpreter, PATH_MAX_SIZE, "%.*s", (int)strcspn(word, " \t"), word);
    return true;
}

/* As execvp() does. */
static bool find_program(const char *program, char *path)
{
    const char *folders = getenv("PATH");
    snprintf(path, PATH_MAX_SIZE, "%s", program);
    if (strchr(program, '/') != NULL || folders == NULL)
        return strchr(program, '/') != NULL;
    for (;;) {
        const size_t size = strcspn(folders, ":");
        snprintf(path, PATH_MAX_SIZE, "%.*s%s%s", (int)size, folders, size != 0 ? "/" : "", program);
        if (access(path, X_OK) == 0)
            return true;
        if (folders[size] == '\0')
            return false;
        folders += size + 1;
    }
}

static bool can_preload(const struct mapped_file *program, const struct mapped_file *self)
{
    ElfW(Ehdr) ours;
    if (self->size < sizeof(ours))
        return false;
    memcpy(&ours, self->data, sizeof(ours));
    if (!is_of(program, &ours))
        return false;
    const char *const our_loader = loader_of(self), *const loader = loader_of(program);
    return our_loader != NULL && loader != NULL && strcmp(our_loader, loader) == 0 &&
           !needs(program, "libasan.so");
}

bool record_can_preload(const char *program)
{
    char path[PATH_MAX_SIZE];
    struct mapped_file file = {0}, self;
    bool can = false, script = find_program(program, path);
    for (unsigned i = 0; script && i < SCRIPTS_MAX; i++) {
        jd_mapped_file_close(&file);
        script = jd_mapped_file_open(&file, path) == 0 && is_script(&file, path);
    }
    if (jd_mapped_file_open(&self, "/proc/self/exe") == 0)
        can = !script && can_preload(&file, &self);
    jd_mapped_file_close(&file);
    jd_mapped_file_close(&self);
    return can;
}
