/*
 * ELF objects that others have made, in memory: sections, functions, relocated debug sections.
 *
 * What lies in this process, so of this machine's class and byte order. Relocatable objects (ET_REL) have
 * their sections at sh_addr, as JITs leave them for debuggers; symbols count from there. Nothing in the
 * bytes is trusted.
 */
#ifndef JITDUMP_OBJECT_ELF_OBJECT_H
#define JITDUMP_OBJECT_ELF_OBJECT_H

#include "format/cursor.h"

struct elf_section {
    const char *name; /* never NULL */
    uint32_t type;
    uint64_t flags;
    /* Where it lies in memory; 0: nowhere. May be changed by who knows better, before all else. */
    uint64_t address;
    uint64_t size;
    struct span data; /* empty if the file has none of it */
    uint32_t link;
    uint32_t info;
};

struct elf_object {
    struct span bytes;
    bool is_relocatable;
    uint16_t machine;
    struct elf_section *sections;
    uint32_t section_count;
};

/* The bytes stay the caller's, and must stay. Returns NULL, or what is wrong; then the object is empty. */
const char *jd_elf_object_read(struct elf_object *object, struct span bytes);
void jd_elf_object_free(struct elf_object *object);

/* The first of this name; NULL: there is none. */
const struct elf_section *jd_elf_section(const struct elf_object *object, const char *name);

struct elf_function {
    const char *name;
    uint64_t address;
    uint64_t size;
};

/* All functions with a name, an address and a size, by address; a size that the object does not tell
 * reaches to the next one or the section's end. Of several at one address the longest, of equally
 * long ones the first global one. To be freed. False: out of memory. */
bool jd_elf_functions(const struct elf_object *object, struct elf_function **functions, size_t *count);

/* The section's data with its relocations carried out: the object's own where it has none, else a copy,
 * which `*copy` then holds, to be freed. Relocations that are not known, or lead outside, are left out.
 * Empty: there is no such section, or no memory. */
struct span jd_elf_relocated(const struct elf_object *object, const char *name, void **copy);

#endif
