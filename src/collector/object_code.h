/*
 * The functions of an ELF object that lies in memory, as loads of the dump: names, lines, inlined calls,
 * frames.
 */
#ifndef JITDUMP_COLLECTOR_OBJECT_CODE_H
#define JITDUMP_COLLECTOR_OBJECT_CODE_H

#include "object/dwarf_calls.h"
#include "object/elf_object.h"
#include "process_dump.h"

/* An object's functions that are not loaded yet. Owns all that it points to. */
struct object_code {
    enum loaded_by by;
    void *bytes;
    struct elf_object object;
    struct elf_function *functions;
    size_t function_count;
    /* Of the functions, one for each: it was loaded. */
    bool *loaded;
    size_t loaded_count;
    /* The copies of relocated sections. */
    void *copies[9];
    struct dwarf dwarf;
    struct dwarf_lines lines;
    struct dwarf_calls calls;
    struct object_code *next;
};

/* Where the object's sections lie, if someone else than the object says it; NULL: as the object says. */
typedef void section_placer(struct elf_object *object, const void *context);

/* Takes `bytes` over, which were allocated. NULL: there are no functions in it, or it can't be read, and has
 * been said why. */
struct object_code *jd_object_code_read(void *bytes, uint64_t size, enum loaded_by by,
                                        section_placer *place, const void *context);
void jd_object_code_free(struct object_code *code);

/* Loads all functions from `start` to `end` that were not yet loaded. */
void jd_object_code_load(struct object_code *code, uint64_t start, uint64_t end);

/* Whether one function that is not loaded lies in memory from `start` to `end`. */
bool jd_object_code_touches(const struct object_code *code, uint64_t start, uint64_t end);

#endif
